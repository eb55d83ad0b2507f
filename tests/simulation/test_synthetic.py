from collections import Counter
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import pytest

from lobandits.errors import LobInputError
from lobandits.orders import UserOrders
from lobandits.simulation import Problems, Synthetic
from lobandits.simulation.synthetic import (
    check_enough,
    distinct_permutations,
    repeats,
    unrank,
)


def equal(a: Problems, b: Problems) -> bool:
    assert a.state_means is not None
    assert b.state_means is not None
    return (
        a.means.tobytes() == b.means.tobytes()
        and a.states.tobytes() == b.states.tobytes()
        and a.state_means.tobytes() == b.state_means.tobytes()
        and a.orders == b.orders
    )


ENVIRONMENTS = [
    Synthetic(),
    Synthetic(n_arms=3, n_states=6),
    Synthetic(n_arms=5, n_states=4, q=0.5, scale=(0.5, 2.0), shift=(-1.0, 1.0)),
    Synthetic(n_arms=5, n_states=4, rewards="bernoulli"),
    Synthetic(n_arms=5, n_states=4, rewards="clipped", sigma=2.0),
    Synthetic(n_arms=1, n_states=1),
]


@pytest.mark.parametrize("env", ENVIRONMENTS, ids=repr)
def test_a_sample_begins_with_the_shorter_ones_and_comes_in_parts(env: Synthetic) -> None:
    everyone = env.sample(37, seed=5)
    assert equal(env.sample(1, seed=5), everyone.take([0]))
    assert equal(env.sample(20, seed=5), everyone.take(range(20)))
    assert equal(env.sample(11, seed=5, first=16), everyone.take(range(16, 27)))
    assert equal(env.sample(3, seed=5, first=6), everyone.take(range(6, 9)))


def test_seeds_differ() -> None:
    env = Synthetic()
    assert not equal(env.sample(8, seed=0), env.sample(8, seed=1))


def test_means_fall_by_gamma_along_the_users_order() -> None:
    problems = Synthetic(n_arms=6, n_states=5, gamma=0.5).sample(30, seed=0)
    assert isinstance(problems.orders, UserOrders)
    for user in range(30):
        ranking = problems.orders[user][int(problems.states[user])].ranking
        assert problems.means[user, list(ranking)].tolist() == [2.5, 2.0, 1.5, 1.0, 0.5, 0.0]
        assert problems.state_means is not None
        for state, order in enumerate(problems.orders[user]):
            falling = problems.state_means[user, state, list(order.ranking)]
            assert (np.diff(falling) == -0.5).all()
    assert problems.sigma == 1.0


def test_states_are_uniform_and_orders_distinct() -> None:
    problems = Synthetic(n_arms=4, n_states=5).sample(4000, seed=2)
    counts = np.bincount(problems.states, minlength=5)
    assert (np.abs(counts - 800) < 120).all()
    assert isinstance(problems.orders, UserOrders)
    for rows in problems.orders.tables.sequence[:200]:
        assert len({tuple(row) for row in rows.tolist()}) == 5


@pytest.mark.parametrize(("q", "links"), [(0.0, 0), (0.1, 1), (0.5, 2), (0.6, 3), (1.0, 4)])
def test_q_is_the_share_of_relations_that_policies_see(q: float, links: int) -> None:
    problems = Synthetic(n_arms=5, n_states=3, q=q).sample(50, seed=1)
    assert isinstance(problems.orders, UserOrders)
    assert (problems.orders.tables.linked.sum(axis=-1) == links).all()
    total = Synthetic(n_arms=5, n_states=3).sample(50, seed=1)
    assert np.array_equal(problems.means, total.means)
    assert not (problems.known_orders.precedes & ~total.known_orders.precedes).any()


def test_scale_and_shift_keep_the_order_and_change_the_numbers() -> None:
    plain = Synthetic(n_arms=6, n_states=4).sample(2000, seed=3)
    other = Synthetic(n_arms=6, n_states=4, scale=(0.5, 2.0), shift=(-3.0, 1.0)).sample(2000, 3)
    shift = other.means.min(axis=1)
    scale = (other.means.max(axis=1) - shift) / 5
    assert np.allclose(other.means, scale[:, None] * plain.means + shift[:, None])
    assert np.array_equal(other.state_means, plain.state_means)  # type: ignore[arg-type]
    assert other.orders == plain.orders
    assert 0.5 <= scale.min() < 0.52
    assert 1.95 < scale.max() <= 2.0
    assert abs(np.median(scale) - 1.0) < 0.05  # log-uniform
    assert -3.0 <= shift.min() < -2.9
    assert 0.9 < shift.max() <= 1.0
    assert abs(shift.mean() + 1.0) < 0.1


def test_bernoulli_means_lie_inside_zero_and_one() -> None:
    problems = Synthetic(n_arms=4, n_states=3, rewards="bernoulli").sample(20, seed=0)
    assert np.allclose(np.sort(problems.means), [[0.125, 0.375, 0.625, 0.875]])
    assert problems.sigma == 0.5
    assert Synthetic(rewards="bernoulli", sigma=0.3).sample(1, 0).sigma == 0.3
    env = Synthetic(4, 3, rewards="bernoulli", scale=(0.1, 9.0), shift=(-4.0, 5.0))
    means = env.sample(500, seed=0).means
    assert 0 < means.min() < means.max() < 1


def test_bernoulli_bounds_are_the_means_that_become_zero_and_one() -> None:
    env = Synthetic(n_arms=3, n_states=2, rewards="bernoulli", bounds=(0.0, 4.0))
    assert np.allclose(np.sort(env.sample(4, 0).means), [[0.0, 0.25, 0.5]])
    with pytest.raises(LobInputError, match="must hold every mean, from 0 to 2"):
        Synthetic(n_arms=3, n_states=2, rewards="bernoulli", bounds=(0.0, 1.0))


def test_clipped_rewards_have_the_means_of_their_rewards() -> None:
    env = Synthetic(n_arms=5, n_states=3, rewards="clipped", sigma=1.5, shift=(-1.0, 1.0))
    problems = env.sample(3, seed=0)
    assert problems.bounds == (-1.0, 5.0)
    assert problems.location is not None
    noise = np.random.default_rng(0).normal(size=(200_000, 1, 1))
    rewards = np.clip(problems.location + 1.5 * noise, *problems.bounds)
    assert np.abs(rewards.mean(axis=0) - problems.means).max() < 0.02
    assert np.array_equal(problems.means.argsort(), problems.location.argsort())
    own = Synthetic(n_arms=5, n_states=3, rewards="clipped", bounds=(1.0, 5.0)).sample(3, 0)
    assert own.bounds == (1.0, 5.0)
    assert own.means.min() > 1.0


def test_it_prints_and_compares() -> None:
    assert repr(Synthetic(3, 2)) == (
        "Synthetic(n_arms=3, n_states=2, sigma=1.0, gamma=1.0, q=1.0, scale=None, shift=None, "
        "rewards='gaussian', bounds=None)"
    )
    assert Synthetic(3, 2) == Synthetic(n_arms=3, n_states=2)
    assert len({Synthetic(), Synthetic(), Synthetic(q=0.5)}) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_arms": 0}, "n_arms must be a whole number of at least 1"),
        ({"n_states": 1.5}, "n_states must be a whole number"),
        ({"n_arms": 3, "n_states": 7}, "3 arms have only 6 orders"),
        ({"sigma": -1}, "sigma must be positive"),
        ({"gamma": 0}, "gamma must be positive"),
        ({"q": 1.2}, "q must lie between 0 and 1"),
        ({"scale": (0.0, 1.0)}, "scale must be positive"),
        ({"scale": 2.0}, r"scale must be \(low, high\)"),
        ({"shift": (1.0, -1.0)}, r"shift must be \(low, high\)"),
        ({"shift": (0.0, np.inf)}, r"shift\[1\] must be a finite number"),
        ({"rewards": "binary"}, "unknown rewards"),
        ({"bounds": (0, 1)}, "Gaussian have none"),
        ({"rewards": "clipped", "bounds": (1, 0)}, "bounds must increase"),
        ({"gamma": 1e308}, "too large for numbers"),
        ({"shift": (-1e308, 1e308)}, "too large for numbers"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        Synthetic(**changes)


@pytest.mark.parametrize(("n", "seed", "first"), [(0, 0, 0), (1, -1, 0), (1, 0, -1), (1.5, 0, 0)])
def test_wrong_samples_are_refused(n: Any, seed: int, first: int) -> None:
    with pytest.raises(LobInputError, match="whole number"):
        Synthetic().sample(n, seed, first)


@pytest.mark.parametrize("n_arms", [1, 2, 3, 4, 5])
def test_unrank_lists_all_permutations_in_order(n_arms: int) -> None:
    numbers = np.arange(factorial(n_arms))
    assert unrank(numbers, n_arms).tolist() == [list(p) for p in permutations(range(n_arms))]


@pytest.mark.parametrize(
    ("n_states", "n_arms"), [(6, 3), (5, 3), (2, 3), (24, 4), (1, 1), (15, 15)]
)
def test_permutations_are_distinct_for_each_user(n_states: int, n_arms: int) -> None:
    drawn = distinct_permutations(np.random.default_rng(0), 8, n_states, n_arms)
    assert drawn.shape == (8, n_states, n_arms)
    assert (np.sort(drawn, axis=-1) == np.arange(n_arms)).all()
    for rows in drawn:
        assert len({tuple(row) for row in rows}) == n_states


@pytest.mark.parametrize("n_states", [1, 4])
def test_each_permutation_is_equally_likely(n_states: int) -> None:
    """n_states = 1 draws again what came twice, 4 shuffles all of them."""
    rng = np.random.default_rng(1)
    drawn = np.concatenate([distinct_permutations(rng, 8, n_states, 3)[:, -1] for _ in range(1500)])
    counts = Counter(map(tuple, drawn.tolist()))
    assert len(counts) == 6
    assert all(abs(count - 2000) < 200 for count in counts.values())


def test_redrawing_leaves_pairs_uniform() -> None:
    rng = np.random.default_rng(2)
    drawn = np.concatenate([distinct_permutations(rng, 8, 5, 4) for _ in range(600)])
    last = Counter(map(tuple, drawn[:, -1].tolist()))
    assert len(last) == 24
    assert all(abs(count - 200) < 80 for count in last.values())


def test_repeats_marks_all_but_the_first() -> None:
    drawn = np.array([[[0, 1, 2], [2, 1, 0], [0, 1, 2], [0, 1, 2]], [[0, 1, 2]] * 4])
    assert repeats(drawn).tolist() == [[False, False, True, True], [False, True, True, True]]


def test_more_states_than_orders_are_refused() -> None:
    check_enough(6, 3)
    check_enough(10**9, 30)
    with pytest.raises(LobInputError, match="3 arms have only 6 orders, but n_states is 7"):
        check_enough(7, 3)
