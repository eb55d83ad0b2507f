"""The prior of orders alone: chains, levels, slopes, and no scale."""

from itertools import pairwise

import numpy as np
import pytest

from lobandits.basics.checks import FloatArray
from lobandits.beliefs import Gaussian, Prior
from lobandits.beliefs.from_orders import components_of_orders
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders

TOTAL = LatentOrders.from_rankings([[2, 0, 1, 3], [3, 2, 1, 0]])
CHAINS = LatentOrders.from_relations(5, [[(0, 1), (1, 2)], [(3, 4), (0, 2)]])
DAG = LatentOrders.from_relations(5, [[(0, 2), (1, 2), (1, 3)], [(0, 1), (0, 3), (1, 4), (3, 4)]])


def columns(prior: Prior) -> FloatArray:
    assert prior.directions is not None
    return prior.directions


def test_a_total_order_is_one_chain() -> None:
    prior = Prior.from_orders(TOTAL, sigma=2.0)
    np.testing.assert_array_equal(prior.means, [[0.5, -0.5, 1.5, -1.5], [-1.5, -0.5, 0.5, 1.5]])
    np.testing.assert_allclose(columns(prior)[..., 0], 0.3 * prior.means)
    assert columns(prior).shape == (2, 4, 1)  # a slope, and no level
    np.testing.assert_allclose(prior.loadings, np.full((4, 1), 100.0))
    np.testing.assert_allclose(prior.own, 0.09)
    np.testing.assert_allclose(prior.factors, 3 * 2.0 / np.sqrt(4) * 2.0 ** np.arange(-4, 4))
    assert prior.likelihood == Gaussian(2.0)
    assert prior.shares.tolist() == [0.5, 0.5]
    assert prior.orders is TOTAL is prior.known


def test_every_chain_has_a_level_and_a_slope() -> None:
    prior = Prior.from_orders(CHAINS)
    np.testing.assert_array_equal(prior.means, [[1, 0, -1, 0, 0], [0.5, 0, -0.5, 0.5, -0.5]])
    level, slope = columns(prior)[..., :3], columns(prior)[..., 3:]
    # of state 0 the chain 0 > 1 > 2, then arms 3 and 4, each alone
    wanted = [[1, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]
    np.testing.assert_allclose(level[0].T, 5 / 3 * np.array(wanted))
    np.testing.assert_allclose(slope[0].T, 0.3 * np.array([[1, 0, -1, 0, 0], [0] * 5]))
    # of state 1 the chains 0 > 2 and 3 > 4, then arm 1
    wanted = [[1, 0, 1, 0, 0], [0, 0, 0, 1, 1], [0, 1, 0, 0, 0]]
    np.testing.assert_allclose(level[1].T, 5 / 3 * np.array(wanted))
    slopes = [[1, 0, -1, 0, 0], [0, 0, 0, 1, -1]]
    np.testing.assert_allclose(slope[1].T, 0.15 * np.array(slopes))


def test_arms_connected_through_others_are_of_one_chain() -> None:
    """2 is below 0 and 1, which no relation connects; 3 below 1; 4 stands alone."""
    prior = Prior.from_orders(DAG)
    # of the chain's four arms 0 leaves two open: 2 + 2 x 2 / 3 of 4, from the middle, 2.5
    np.testing.assert_allclose(prior.means[0], [5 / 6, 1.25, -1.25, -5 / 6, 0.0])
    np.testing.assert_allclose(prior.means[1], [1.5, 0.0, 0.0, 0.0, -1.5])


def test_what_an_order_leaves_open_is_an_arms_own() -> None:
    """The place of an arm with b below, a above and n open: n urns, filled one after the other."""
    orders = LatentOrders.from_relations(6, [[(0, 1), (1, 2), (0, 3), (4, 2), (4, 5)]])
    prior = Prior.from_orders(orders)
    above = orders[0].precedes
    for arm in range(6):
        over, under = int(above[:, arm].sum()), int(above[arm].sum())
        chances = {under + 1: 1.0}  # that the arm has this place from below
        for more in range(5 - over - under):  # each falls into one of the gaps, all as likely
            after: dict[int, float] = {}
            for place, chance in chances.items():
                below = place / (over + under + more + 2)
                after[place + 1] = after.get(place + 1, 0.0) + chance * below
                after[place] = after.get(place, 0.0) + chance * (1 - below)
            chances = after
        places, weights = np.array(list(chances)), np.array(list(chances.values()))
        mean = float(weights @ places)
        np.testing.assert_allclose(prior.means[0, arm], mean - 3.5)
        np.testing.assert_allclose(
            prior.state_own[0, arm], 0.09 + weights @ (places - mean) ** 2, atol=1e-12
        )


def covariance(prior: Prior, s: int) -> FloatArray:
    """Of a state's users, without the shift and with a factor of 1."""
    e = columns(prior)[s]
    c: FloatArray = e @ e.T + np.diag(prior.state_own[s])
    return c


@pytest.mark.parametrize("orders", [TOTAL, CHAINS, DAG], ids=["total", "chains", "dag"])
def test_tastes_are_those_of_the_equation(orders: LatentOrders) -> None:
    """lambda_c + (1 + 0.3 t_c) x_a + eps_a, chain by chain."""
    prior, k = Prior.from_orders(orders), orders.n_arms
    for s, order in enumerate(orders):
        above = order.precedes
        linked = above | above.T | np.eye(k, dtype=bool)
        for _ in range(k):
            linked = linked @ linked
        over, under = above.sum(axis=0) + 1.0, above.sum(axis=1) + 1.0
        size = linked.sum(axis=1)
        x = under * (size + 1) / (over + under) - (size + 1) / 2
        n = size + 1 - over - under
        own = 0.09 + n * over * under * (size + 1) / (over + under) ** 2 / (over + under + 1)
        several = not linked.all()
        wanted = linked * (several * (k / 3) ** 2 + 0.09 * np.outer(x, x)) + np.diag(own)
        np.testing.assert_allclose(covariance(prior, s), wanted, atol=1e-12)
        np.testing.assert_allclose(prior.means[s], x, atol=1e-12)


def test_users_of_their_own_orders_have_them_in_one_array() -> None:
    users = UserOrders.stack([CHAINS, DAG])
    together, shuffle = components_of_orders(users, 1.0)
    assert len(shuffle) == len(set(shuffle.tolist())) == together.direction.shape[3] + 2
    for u, orders in enumerate((CHAINS, DAG)):
        alone, own = components_of_orders(orders, 1.0)
        np.testing.assert_array_equal(together.mean[u], alone.mean[0])
        mine, theirs = together.direction[u], alone.direction[0]
        gram = mine @ mine.transpose(0, 2, 1)
        np.testing.assert_allclose(gram, theirs @ theirs.transpose(0, 2, 1))
        # a column has the same shuffle in both, or is empty
        for column, number in enumerate(shuffle[1:-1].tolist()):
            where = np.flatnonzero(own[1:-1] == number)
            wanted = theirs[..., where[0]] if len(where) else np.zeros_like(mine[..., column])
            np.testing.assert_array_equal(mine[..., column], wanted)


def test_shares_tell_how_common_states_are() -> None:
    with np.errstate(divide="ignore"):
        c, _ = components_of_orders(TOTAL, 1.0, np.log([3.0, 1.0]))
        none, _ = components_of_orders(TOTAL, 1.0, np.log([0.0, 1.0]))
    np.testing.assert_allclose(8 * np.exp(c.log_share), [[0.75, 0.25]])
    np.testing.assert_allclose(8 * np.exp(none.log_share), [[0.0, 1.0]])


def test_orders_alone_are_free_of_scale_and_shift() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2, 3], [3, 2, 1, 0]])
    small, large = Prior.from_orders(orders, 1.0), Prior.from_orders(orders, 10.0)
    counts, sums = np.array([[2, 1, 0, 3]]), np.array([[4.0, 1.0, 0.0, -2.0]])
    chances, means, _ = small.posterior(counts, sums)
    scaled, ten, _ = large.posterior(counts, 10 * sums)
    np.testing.assert_allclose(chances, scaled, atol=1e-9)
    np.testing.assert_allclose(10 * means, ten, rtol=1e-6)
    moved, more, _ = small.posterior(counts, sums + 5.0 * counts)
    np.testing.assert_allclose(chances, moved, atol=0.02)
    np.testing.assert_allclose(means + 5.0, more, atol=0.05)
    assert all(a > b for a, b in pairwise(means[0, [0, 1, 3]]))


def test_one_arm_and_empty_orders() -> None:
    for orders in (LatentOrders.from_rankings([[0]]), LatentOrders.from_relations(3, [[]])):
        prior = Prior.from_orders(orders)
        counts = np.full((1, orders.n_arms), 2)
        for numbers in prior.posterior(counts, counts * 1.5):
            assert np.isfinite(numbers).all()


def test_what_is_no_orders_is_refused() -> None:
    with pytest.raises(LobInputError, match="orders must be LatentOrders, got list"):
        Prior.from_orders([[0, 1]])  # type: ignore[arg-type]
    with pytest.raises(LobInputError, match="sigma"):
        Prior.from_orders(TOTAL, sigma=0.0)
