from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau
from tests.paper.clustering import naive

from lobandits.paper.clustering import kendall
from lobandits.paper.clustering.kendall import (
    distances,
    nearest,
    order_signs,
    pair_signs,
    rank,
)

MEANS = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(2, 6)),
    elements=st.sampled_from([1.0, 1.5, 2.0, 3.0, 4.5, np.nan]),
)


def test_distance_is_scipys_without_ties() -> None:
    rng = np.random.default_rng(0)
    means, centers = rng.normal(size=(30, 19)), rng.normal(size=(8, 19))
    expected = [[(1 - kendalltau(x, c).statistic) / 2 for c in centers] for x in means]
    found = distances(pair_signs(means), order_signs(rank(centers)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_distance_is_scipys_on_the_arms_tried() -> None:
    rng = np.random.default_rng(1)
    means, centers = rng.normal(size=(30, 12)), rng.normal(size=(5, 12))
    means[rng.random(means.shape) < 0.4] = np.nan
    expected = [
        [(1 - kendalltau(x[~np.isnan(x)], c[~np.isnan(x)]).statistic) / 2 for c in centers]
        for x in means
    ]
    found = distances(pair_signs(means), order_signs(rank(centers)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(MEANS, st.integers(0, 2**32 - 1))
def test_distance_equals_its_twin(means: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rankings = np.stack([rng.permutation(means.shape[1]) for _ in range(3)])
    users = pair_signs(means)
    expected = np.array([[naive.kendall_distance(x, r) for r in rankings] for x in means])
    np.testing.assert_allclose(distances(users, order_signs(rankings)), expected, atol=1e-12)
    labels, agreement = nearest(users, order_signs(rankings))
    assert labels.tolist() == naive.assign(means, rankings)
    np.testing.assert_allclose(users.distances(agreement), expected.min(axis=1), atol=1e-12)


@given(MEANS)
def test_excess_is_zero_for_the_users_own_order(means: Any) -> None:
    users = pair_signs(means)
    own = rank(np.where(np.isnan(means), -1.0, means))
    agreement = [
        nearest(users.take(np.array([u])), order_signs(own[[u]]))[1][0] for u in range(len(means))
    ]
    np.testing.assert_array_equal(users.excess(np.array(agreement)), 0.0)


def test_blocks_of_users_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    means, rankings = rng.normal(size=(50, 5)), np.stack([rng.permutation(5) for _ in range(4)])
    whole = distances(pair_signs(means), order_signs(rankings))
    monkeypatch.setattr(kendall, "BLOCK", 7)
    users = pair_signs(means)
    np.testing.assert_array_equal(distances(users, order_signs(rankings)), whole)
    np.testing.assert_array_equal(nearest(users, order_signs(rankings))[0], whole.argmin(axis=1))


def test_of_equal_arms_the_lower_number_comes_first() -> None:
    assert rank(np.array([[2.0, 3.0, 2.0, 3.0]])).tolist() == [[1, 3, 0, 2]]
