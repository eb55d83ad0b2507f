"""Orders read off means: exact with enough rewards, refused where open."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import lobandits as lob

SIGMA, GAP, N_ARMS, N_USERS = 1.0, 0.5, 5, 60
LOGS = {"user": [1, 1, 1, 2, 2], "arm": list("xxyxy"), "reward": [1.0, 2.0, 3.0, 1.0, 2.0]}


def rewards_of_everybody(n: int, seed: int) -> tuple[lob.RewardTable, lob.LatentOrders, Any]:
    """Return n rewards of every arm from every user, whose means are at least the gap apart."""
    rng = np.random.default_rng(seed)
    orders = lob.LatentOrders.from_rankings([[4, 2, 0, 1, 3], [0, 1, 2, 3, 4], [3, 2, 4, 1, 0]])
    states = rng.integers(3, size=N_USERS)
    steps = GAP * rng.uniform(1, 1.5, (N_USERS, N_ARMS)).cumsum(axis=1)[:, ::-1]
    means = np.empty_like(steps)
    np.put_along_axis(means, np.array([orders[s].ranking for s in states]), steps, axis=1)
    rewards = rng.normal(means[..., None], SIGMA, (N_USERS, N_ARMS, n))
    counts = np.full(means.shape, n)
    squares = (rewards**2).sum(axis=2)
    users = np.arange(N_USERS)
    return lob.RewardTable(users, orders.arms, counts, rewards.sum(axis=2), squares), orders, states


def test_enough_rewards_give_exactly_the_planted_orders() -> None:
    enough = lob.samples_for_exact_orders(SIGMA, GAP, N_ARMS, N_USERS, delta=0.01)
    data, orders, states = rewards_of_everybody(enough, seed=0)
    model = lob.exact_orders(data, min_rewards=enough)
    assert set(model.orders) == set(orders)
    assert all(model.orders[s] == orders[t] for s, t in zip(model.labels, states, strict=True))
    assert (np.diff(model.sizes) <= 0).all()


def test_far_fewer_do_not() -> None:
    enough = lob.samples_for_exact_orders(SIGMA, GAP, N_ARMS, N_USERS, delta=0.01)
    data, orders, _ = rewards_of_everybody(enough // 50, seed=0)
    assert lob.exact_orders(data).orders.n_states > 3 * orders.n_states


@pytest.mark.parametrize(
    ("change", "least", "message"),
    [
        ({}, 2, "user 1 has 1 from 'y'; user 2 has 1 from 'x'; user 2 has 1 from 'y'"),
        ({"arm": list("xxyxx")}, None, "at least 1 reward from .* but user 2 has 0 from 'y'"),
        ({"reward": [1.0, 2.0, 1.5, 1.0, 2.0]}, None, "means of two arms are equal.* user 1"),
        ({}, 0, "min_rewards must be a whole number of at least 1"),
    ],
)
def test_refuses_what_leaves_an_order_open(change: Any, least: Any, message: str) -> None:
    with pytest.raises(lob.LobInputError, match=message):
        lob.exact_orders(pl.DataFrame(LOGS | change), min_rewards=least)


def test_counts_the_cells_that_it_does_not_show() -> None:
    data, _, _ = rewards_of_everybody(3, seed=1)
    with pytest.raises(lob.LobInputError, match="and 297 more"):
        lob.exact_orders(data, min_rewards=4)
