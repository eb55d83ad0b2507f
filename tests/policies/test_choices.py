import numpy as np
import pytest

from lobandits.policies.choices import draw_weighted, exponentiate, pick, spread

pytestmark = pytest.mark.plain
LAST = 1 - 2.0**-53


@pytest.mark.parametrize("ties", [1, 2, 3, 7])
def test_ties_are_equally_likely(ties: int) -> None:
    values = np.array([5.0, 1.0] * ties)
    grid = (np.arange(60 * ties) + 0.5) / (60 * ties)
    picks = [pick(values, 5.0, u) for u in grid]
    assert np.bincount([i for i, _ in picks]).tolist() == ([60, 0] * ties)[:-1]
    assert sorted(left for _, left in picks) == pytest.approx(
        np.repeat((np.arange(60) + 0.5) / 60, ties), abs=1e-12
    )
    out = np.zeros(2 * ties)
    spread(values, 5.0, 0.5, out)
    assert out == pytest.approx([0.5 / ties, 0.0] * ties)


@pytest.mark.parametrize("ties", [1, 3, 1000])
def test_the_largest_uniform_picks_the_last_tie(ties: int) -> None:
    i, left = pick(np.ones(ties), 1.0, LAST)
    assert i == ties - 1
    assert 0 <= left < 1


def test_weights_decide_and_leave_a_uniform() -> None:
    weights = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    grid = (np.arange(400) + 0.5) / 400
    draws = [draw_weighted(weights, 4.0, u) for u in grid]
    assert np.bincount([i for i, _ in draws]).tolist() == [0, 100, 0, 300]
    lefts = [left for i, left in draws if i == 3]
    assert lefts == pytest.approx((np.arange(300) + 0.5) / 300)


def test_rounding_never_falls_off_the_end() -> None:
    i, left = draw_weighted(np.array([0.1, 0.2, 0.0]), 0.30000000000000004 + 1e-16, LAST)
    assert i == 1
    assert 0 <= left < 1


def test_weights_below_the_cut_are_zero() -> None:
    logs = np.array([-1000.0, -1000.0 + np.log(0.9e-12), -1000.0 + np.log(1.1e-12), -np.inf])
    total = exponentiate(logs, 1e-12)
    assert logs.tolist() == pytest.approx([1.0, 0.0, 1.1e-12, 0.0])
    assert total == pytest.approx(1 + 1.1e-12)
