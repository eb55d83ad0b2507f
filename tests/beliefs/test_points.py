"""Points of posteriors: against a plain twin, and what they promise of themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from tests.beliefs.cases import random_clicks, random_prior, random_rewards
from tests.beliefs.reference import (
    cells_of,
    components_of,
    components_of_user,
    points_of_user,
    version_shares,
)

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.beliefs import Bernoulli, Gaussian, Likelihood, Poisson, Prior
from lobandits.beliefs.cells import settled_cells
from lobandits.beliefs.from_orders import components_of_orders
from lobandits.beliefs.points import (
    direct_relations,
    levels,
    log_normal_table,
    make_mixture,
    points_of_users,
    shuffled_quantiles,
    turns_of,
)
from lobandits.orders import LatentOrders, UserOrders

KINDS: list[Likelihood] = [Gaussian(0.7), Bernoulli(), Poisson()]
TOTAL = LatentOrders.from_rankings([[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [3, 1, 4, 2, 0]])
DAG = LatentOrders.from_relations(
    5, [[(0, 2), (1, 2), (1, 3), (4, 3)], [(0, 1), (0, 3), (1, 4), (3, 4)], [(2, 4)]]
)


def points_of(
    prior: Prior, counts: FloatArray, sums: FloatArray, allowed: BoolArray, n: int, trust: float
) -> tuple[FloatArray, IntArray, FloatArray]:
    mixture = make_mixture(prior.components, prior.orders if trust else None, trust)
    cells = settled_cells(counts, sums, prior.likelihood, mixture.components)
    return points_of_users(counts, cells, allowed, mixture, n)


@pytest.mark.plain
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("trust", [0.0, 0.6, 1.0])
@settings(max_examples=6)
@given(m=st.integers(1, 3), k=st.integers(1, 5), e=st.integers(0, 1), seed=st.integers(0, 10**6))
def test_points_and_tops_are_those_of_the_twin(
    kind: Likelihood, trust: float, m: int, k: int, e: int, seed: int
) -> None:
    factors = (0.5, 1.5) if seed % 2 else (1.0,)
    prior = random_prior(m, k, seed, factors=factors, e=e, likelihood=kind, level=-0.5)
    counts, sums = random_clicks(3, k, 0.4, 6, seed)
    counts[2] = sums[2] = 0.0
    allowed = np.random.default_rng(seed).random((3, k)) < 0.6
    allowed[:, seed % k] = True
    points, top, shares = points_of(prior, counts, sums, allowed, 8, trust)
    components = components_of(prior)
    for u in range(3):
        cells = [cells_of(kind, counts[u], sums[u], c) for c in components]
        known = version_shares(components, cells, prior.orders, trust)
        np.testing.assert_allclose(shares[u], known, atol=1e-7)
        plays = int(counts[u].sum())
        wanted, tops = points_of_user(
            components, cells, plays, 8, allowed[u].tolist(), prior.orders, trust
        )
        np.testing.assert_allclose(points[u].T, wanted, atol=1e-6)
        assert top[u].tolist() == tops


@pytest.mark.parametrize(
    "orders",
    [
        UserOrders.stack([DAG, TOTAL]),
        UserOrders.stack([LatentOrders.from_relations(5, [[(0, 1)], [(2, 3)], []]), DAG]),
    ],
)  # fmt: skip
def test_orders_of_ones_own_have_the_points_of_the_twin(orders: UserOrders) -> None:
    components, shuffle = components_of_orders(orders, 0.8)
    mixture = make_mixture(components, orders, 0.999, shuffle)
    counts, sums = random_rewards(2, 5, seed=3)
    cells = settled_cells(counts, sums, Gaussian(0.8), components)
    points, top, _ = points_of_users(counts, cells, np.ones((1, 5), np.bool_), mixture, 16)
    for u in range(2):
        mine = components_of_user(components, u)
        evidence = [cells_of(Gaussian(0.8), counts[u], sums[u], c) for c in mine]
        wanted, tops = points_of_user(
            mine, evidence, int(counts[u].sum()), 16, [True] * 5, orders[u], 0.999, shuffle.tolist()
        )
        np.testing.assert_allclose(points[u].T, wanted, atol=1e-5)
        assert top[u].tolist() == tops


def test_points_of_orders_do_not_depend_on_other_users() -> None:
    """Users with other chains have other columns, and everybody's points stay theirs."""
    other = LatentOrders.from_rankings([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 1, 0, 3, 4]])
    some = LatentOrders.from_relations(5, [[(0, 1), (2, 3)], [(4, 0)], []])
    orders = UserOrders.stack([other, some, DAG])
    counts, sums = random_rewards(3, 5, seed=4)
    every = np.ones((1, 5), np.bool_)

    def drawn(of: UserOrders, users: list[int]) -> FloatArray:
        components, shuffle = components_of_orders(of, 1.0)
        cells = settled_cells(counts[users], sums[users], Gaussian(1.0), components)
        mixture = make_mixture(components, of, 0.5, shuffle)
        return points_of_users(counts[users], cells, every, mixture, 8)[0]

    together = drawn(orders, [0, 1, 2])
    for u in range(3):
        np.testing.assert_allclose(drawn(orders.take([u]), [u])[0], together[u], atol=1e-9)


def test_strict_points_keep_the_order() -> None:
    prior = random_prior(2, 5, seed=5)
    counts, sums = random_rewards(20, 5, seed=6)
    points, top, shares = points_of(prior, counts, sums, np.ones((1, 5), np.bool_), 32, 1.0)
    assert not shares[:, :2].any()
    rankings = [np.argsort(-prior.means[s]) for s in range(2)]
    for u in range(20):
        for i in range(32):
            kept = [(np.diff(points[u, ranking, i]) <= 1e-9).all() for ranking in rankings]
            assert any(kept)
            assert any(top[u, i] == r[0] for r, k in zip(rankings, kept, strict=True) if k)


def test_many_points_have_the_gaps_of_the_posterior() -> None:
    """But for what moves all arms alike, points are draws: of gaps, mean and covariance."""
    prior = random_prior(2, 4, seed=7)
    counts, sums = random_rewards(1, 4, seed=8)
    points, _, shares = points_of(prior, counts, sums, np.ones((1, 4), np.bool_), 1024, 0.0)
    drawn = prior.draw_posterior(np.repeat(counts, 50_000, 0), np.repeat(sums, 50_000, 0), 0)
    gaps, wanted = np.diff(points[0].T, axis=1), np.diff(drawn, axis=1)
    np.testing.assert_allclose(gaps.mean(axis=0), wanted.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(np.cov(gaps.T), np.cov(wanted.T), atol=0.06)
    np.testing.assert_allclose(shares[0, :2], prior.posterior(counts, sums)[0][0])


def test_levels_are_the_row_sums_of_the_precision() -> None:
    prior = random_prior(3, 4, seed=9, factors=(0.5, 2.0), e=2)
    found = levels(prior.components)[0]
    wanted = [np.linalg.inv(c.covariance).sum(axis=1) for c in components_of(prior)]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_quantiles_are_normal_in_every_shuffle() -> None:
    table = shuffled_quantiles(32)
    assert table.shape == (4096, 32)
    strata = np.sort(np.floor(norm.cdf(table) * 32), axis=1)
    np.testing.assert_array_equal(strata, np.broadcast_to(np.arange(32), table.shape))
    least = norm.ppf(np.array([0.5, 1.5, 2.5]) / 131072)
    np.testing.assert_allclose(np.sort(table.ravel())[:3], least)
    assert abs(np.corrcoef(table[0], table[1])[0, 1]) < 0.9
    assert shuffled_quantiles(32) is table


def test_log_phi_is_read_off_a_table() -> None:
    table = log_normal_table()
    grid = -30 + np.arange(len(table)) / 128
    np.testing.assert_allclose(table, norm.logcdf(grid), atol=1e-9)
    middle = 0.5 * (table[1:] + table[:-1])
    np.testing.assert_allclose(middle, norm.logcdf(grid[:-1] + 0.5 / 128), atol=1e-5)


def test_points_change_with_every_play_and_every_weight() -> None:
    counts = np.array([[1.0, 2.0], [1.0, 3.0], [0.3, 2.4], [0.31, 2.39]])
    turns = turns_of(counts)
    assert turns[:2].tolist() == [3, 4]
    assert len(set(turns.tolist())) == 4


def test_direct_relations_are_the_reduction() -> None:
    upper, lower = direct_relations(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]))
    assert upper.tolist() == [[[0, 2], [0, 1]]]
    assert lower.tolist() == [[[1, 0], [1, 2]]]
    upper, _ = direct_relations(LatentOrders.from_relations(3, [[(0, 1), (0, 2)], [(0, 1)]]))
    assert upper[0, 1].tolist() == [0, -1]
