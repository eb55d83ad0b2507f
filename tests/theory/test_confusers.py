"""The closest confusing instances against a general quadratic solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.theory import reference
from tests.theory.cases import random_means, random_orders

from lobandits.orders import LatentOrders
from lobandits.theory.confusers import find_confusers

densities = st.sampled_from([0.0, 0.15, 0.4, 0.7, 1.0])


@settings(max_examples=150)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 7), m=st.integers(1, 4), density=densities)
def test_nearest_instance_is_the_quadratic_solvers(
    seed: int, k: int, m: int, density: float
) -> None:
    rng = np.random.default_rng(seed)
    orders = random_orders(rng, k, m, density)
    means = random_means(rng, orders)
    weights = rng.exponential(1.0, k) * 10.0 ** rng.integers(-3, 3, k)
    confusers = find_confusers(orders, int(means.argmax()))
    found = confusers.nearest(means, weights)
    for instance, state, top in zip(found, confusers.states, confusers.tops, strict=True):
        fit, loss = reference.nearest(means, weights, orders, int(state), int(top))
        assert weights @ (instance - means) ** 2 == pytest.approx(loss, rel=1e-7, abs=1e-9)
        np.testing.assert_allclose(instance, fit, rtol=1e-5, atol=1e-5)


@settings(max_examples=150)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 7), m=st.integers(1, 4), density=densities)
def test_the_pairs_kept_stand_for_all_pairs(seed: int, k: int, m: int, density: float) -> None:
    """In each state, the closest instance over the pairs kept is the closest over all tops."""
    rng = np.random.default_rng(seed)
    orders = random_orders(rng, k, m, density)
    means = random_means(rng, orders)
    weights = rng.exponential(1.0, k)
    best = int(means.argmax())
    least = dict.fromkeys(range(orders.n_states), np.inf)
    for s, b in reference.pairs(orders, best):
        least[s] = min(least[s], reference.nearest(means, weights, orders, s, b)[1])
    kept = dict.fromkeys(range(orders.n_states), np.inf)
    confusers = find_confusers(orders, best)
    losses = (confusers.nearest(means, weights) - means) ** 2 @ weights
    for s, loss in zip(confusers.states.tolist(), losses, strict=True):
        kept[s] = min(kept[s], float(loss))
    assert kept == pytest.approx(least, rel=1e-6, abs=1e-9)


@given(seed=st.integers(0, 10**6), density=densities)
def test_instances_lie_in_their_cones_also_with_unplayed_arms(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    orders = random_orders(rng, 6, 3, density)
    means = random_means(rng, orders)
    weights = rng.exponential(1.0, 6) * (rng.random(6) < 0.5)
    best = int(means.argmax())
    confusers = find_confusers(orders, best)
    found = confusers.nearest(means, weights)
    assert np.array_equal(found[:, best], np.full(len(found), means[best]))
    for instance, state, top in zip(found, confusers.states, confusers.tops, strict=True):
        assert instance[top] == instance.max()
        above, below = np.nonzero(orders.precedes[state])
        assert (instance[above] >= instance[below] - 1e-9).all()


def test_zero_weights_are_the_limit_of_small_ones() -> None:
    rng = np.random.default_rng(5)
    orders = random_orders(rng, 6, 5, 0.5)
    means = random_means(rng, orders)
    weights = np.array([1.0, 0.0, 2.0, 0.0, 0.5, 3.0])
    confusers = find_confusers(orders, int(means.argmax()))
    zero = (confusers.nearest(means, weights) - means) ** 2 @ weights
    small = weights + 1e-9
    limit = (confusers.nearest(means, small) - means) ** 2 @ small
    np.testing.assert_allclose(zero, limit, atol=1e-7)


def test_which_pairs_confuse() -> None:
    orders = LatentOrders.from_relations(
        4,
        [
            [(0, 1), (0, 2)],  # leaves 0 and 3 on top: 3 confuses
            [(1, 0), (2, 1)],  # 2 above 1 above 0: one pair, though 3 could be on top too
            [(0, 1), (0, 2), (0, 3)],  # 0 on top: nothing confuses
        ],
    )
    confusers = find_confusers(orders, best=0)
    assert confusers.states.tolist() == [0, 1]
    assert confusers.tops.tolist() == [3, 2]
    assert confusers.lifted.tolist() == [[False, False, False, True], [False, True, True, False]]
