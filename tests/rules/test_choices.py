import numpy as np
import pytest

from lobandits.rules.choices import draw_arms, draw_weighted, likeliness, pick

pytestmark = pytest.mark.plain
LAST = 1 - 2.0**-53


@pytest.mark.parametrize("ties", [1, 2, 3, 7])
def test_ties_are_equally_likely(ties: int) -> None:
    among = np.array([True, False] * ties)
    grid = (np.arange(60 * ties) + 0.5) / (60 * ties)
    picks = pick(np.broadcast_to(among, (len(grid), 2 * ties)), grid)
    assert np.bincount(picks).tolist() == ([60, 0] * ties)[:-1]


@pytest.mark.parametrize("ties", [1, 3, 1000])
def test_the_largest_uniform_picks_the_last_tie(ties: int) -> None:
    assert pick(np.ones((1, ties), np.bool_), np.array([LAST])).tolist() == [ties - 1]


def test_weights_decide_and_leave_a_uniform() -> None:
    grid = (np.arange(400) + 0.5) / 400
    weights = np.broadcast_to([0.0, 1.0, 0.0, 3.0, 0.0], (400, 5))
    places, left = draw_weighted(weights, grid)
    assert np.bincount(places).tolist() == [0, 100, 0, 300]
    assert left[places == 3].tolist() == pytest.approx((np.arange(300) + 0.5) / 300)
    assert draw_arms(weights, grid).tolist() == places.tolist()


@pytest.mark.parametrize("weights", [[0.1, 0.2, 0.0], [0.1] * 9 + [0.0], [1e-300, 3e-300, 0.0]])
@pytest.mark.parametrize("uniform", [0.0, 0.5, LAST])
def test_rounding_never_falls_off_the_end(weights: list[float], uniform: float) -> None:
    (place,), (left,) = draw_weighted(np.array([weights]), np.array([uniform]))
    assert weights[place] > 0
    assert 0 <= left < 1


def test_arms_without_odds_are_never_drawn() -> None:
    assert (
        draw_arms(np.array([[0.0, 2.0, 0.0]] * 3), np.array([0.0, 0.5, LAST])).tolist() == [1] * 3
    )


def test_weights_below_the_cut_are_zero() -> None:
    logs = np.array([[0.0, np.log(0.9e-12), np.log(1.1e-12), -np.inf]]) - 1000.0
    assert likeliness(logs)[0].tolist() == pytest.approx([1.0, 0.0, 1.1e-12, 0.0])
