"""Prior as a value: checks, orders, files, words, new arms."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from tests.priors.reference import covariance, random_prior

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.priors import Prior

GOOD = {
    "arms": ["x", "y"],
    "shares": [0.75, 0.25],
    "means": [[3.0, 1.0], [1.0, 4.0]],
    "spread": np.eye(2),
    "shift": 0.5,
    "scales": [0.2, 0.3],
    "sigma": 1.0,
}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("shares", [0.5, 0.4], "sum to 1"),
        ("shares", [1.0, 0.0], "positive"),
        ("spread", [[1.0, 0.5], [0.0, 1.0]], "symmetric"),
        ("spread", np.ones((2, 2)), "positive definite"),
        ("spread", np.eye(3), "shape"),
        ("scales", [-0.1, 0.2], "not negative"),
        ("shift", -1.0, "shift"),
        ("sigma", 0.0, "sigma"),
        ("factors", [0.0], "factors"),
        ("means", [[np.nan, 1.0], [0.0, 1.0]], "means"),
    ],
)
def test_wrong_fields_are_named(field: str, value: object, message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        Prior(**GOOD | {field: value})  # type: ignore[arg-type]


def test_orders_follow_from_means() -> None:
    prior = Prior(**GOOD)  # type: ignore[arg-type]
    assert [order.ranking for order in prior.orders] == [(0, 1), (1, 0)] or [
        list(order.ranking) for order in prior.orders
    ] == [[0, 1], [1, 0]]


def test_sure_orders_keep_what_most_users_keep() -> None:
    prior = random_prior(3, 6, seed=0)
    rng = np.random.default_rng(0)
    sure = prior.sure_orders(0.9)
    assert not sure.is_total
    for s in range(3):
        users = rng.multivariate_normal(prior.means[s], covariance(prior, s), 20_000)
        share = (users[:, :, None] > users[:, None, :]).mean(axis=0)
        assert (share[sure.precedes[s]] > 0.88).all()
        assert (share[~sure.precedes[s]] < 0.92).all()


def test_moments_of_the_population() -> None:
    prior = random_prior(3, 4, seed=1, factors=(0.5, 2.0))
    rng = np.random.default_rng(0)
    users = []
    for f in prior.factors:
        for s in range(3):
            n = round(200_000 * prior.shares[s])
            users.append(rng.multivariate_normal(f * prior.means[s], covariance(prior, s, f), n))
    drawn = np.concatenate(users)
    np.testing.assert_allclose(prior.population_mean, drawn.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(prior.population_covariance, np.cov(drawn.T), atol=0.12)


def test_saves_and_loads(tmp_path: Path) -> None:
    prior = random_prior(2, 3, seed=2)
    prior.save(tmp_path / "prior.json")
    assert Prior.load(tmp_path / "prior.json") == prior
    assert Prior.from_dict(prior.to_dict()) == prior
    known = Prior.from_orders(LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]]))
    known.save(tmp_path / "known.json")
    assert Prior.load(tmp_path / "known.json") == known
    with pytest.raises(LobInputError, match="shares"):
        Prior.from_dict(prior.to_dict() | {"shares": [0.5, 0.6]}, "here")


def test_prints_the_most_common_state_first() -> None:
    prior = Prior(**GOOD | {"shares": [0.25, 0.75]})  # type: ignore[arg-type]
    assert str(prior).splitlines()[1] == "state 1: 75 % of users, scale 0.3: y 4 > x 1"


def test_draws_a_line_for_every_state() -> None:
    mpl.use("agg")
    figure = random_prior(3, 4, seed=3).plot()
    assert len(figure.axes[0].lines) == 3
    import matplotlib.pyplot as plt

    plt.close("all")


def test_orders_alone_are_free_of_scale() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2, 3], [3, 2, 1, 0]])
    small, large = Prior.from_orders(orders, 1.0), Prior.from_orders(orders, 10.0)
    counts = np.array([[2, 1, 0, 3]])
    sums = np.array([[4.0, 1.0, 0.0, -2.0]])
    chances, means, _ = small.posterior(counts, sums)
    scaled, ten, _ = large.posterior(counts, 10 * sums)
    np.testing.assert_allclose(chances, scaled, atol=1e-9)
    np.testing.assert_allclose(10 * means, ten, rtol=1e-6)
    moved, more, _ = small.posterior(counts, sums + 5.0 * counts)
    np.testing.assert_allclose(chances, moved, atol=0.02)
    np.testing.assert_allclose(means + 5.0, more, atol=0.05)
    assert small.orders is orders


def make(fields: dict[str, Any]) -> Prior:
    return Prior(**fields)


def test_kept_order_is_the_chance_that_users_agree_with_their_state() -> None:
    prior = make(GOOD)
    states, means = prior.draw(200_000, 0)
    agree = np.where(states == 0, means[:, 0] > means[:, 1], means[:, 1] > means[:, 0])
    shares = [agree[states == s].mean() for s in range(2)]
    np.testing.assert_allclose(prior.kept_order(), shares, atol=0.01)
    one = {"arms": ["0", "1"], "shares": [1.0], "means": [[3.0, 1.0]], "scales": [0.2]}
    free = LatentOrders.from_relations(2, [[]])
    assert np.isnan(make(GOOD | one | {"known": free}).kept_order()).all()


def test_users_are_drawn_as_the_prior_says() -> None:
    prior = random_prior(3, 4, seed=2)
    states, means = prior.draw(200_000, np.random.default_rng(3))
    np.testing.assert_allclose(np.bincount(states) / 200_000, prior.shares, atol=0.005)
    size = np.sqrt(np.trace(prior.population_covariance))
    np.testing.assert_allclose(means.mean(axis=0), prior.population_mean, atol=0.01 * size)
    np.testing.assert_allclose(np.cov(means.T), prior.population_covariance, atol=0.03 * size**2)


def test_shares_whose_sum_is_rounded_come_back_equal() -> None:
    shares = np.array([0.4, 0.3, 0.2, 0.1])  # their sum is not quite 1
    means = np.arange(12.0).reshape(4, 3)
    prior = Prior(tuple("abc"), shares, means, np.eye(3), 0.3, np.full(4, 0.2), 1.0)
    assert Prior.from_dict(prior.to_dict()) == prior
    assert abs(prior.shares.sum() - 1) < 1e-12


def make_prior() -> Prior:
    return random_prior(3, 4, seed=0)


def test_a_new_arm_like_another() -> None:
    prior = make_prior()
    grown = prior.with_arm("new", like=prior.arms[1])
    assert grown.arms == (*prior.arms, "new")
    np.testing.assert_array_equal(grown.means[:, :-1], prior.means)
    np.testing.assert_array_equal(grown.means[:, -1], prior.means[:, 1])
    np.testing.assert_array_equal(grown.spread[:-1, :-1], prior.spread)
    # the user's own opinion of both differs by as much as there is of the old one
    gap = np.zeros(5)
    gap[[1, 4]] = 1, -1
    assert gap @ grown.spread @ gap == pytest.approx(prior.spread[1, 1])


def test_a_new_arm_is_wide() -> None:
    prior = make_prior()
    grown = prior.with_arm("new")
    np.testing.assert_allclose(grown.means[:, -1], prior.means.mean(axis=1))
    assert not grown.spread[-1, :-1].any()
    assert grown.spread[-1, -1] > np.diag(prior.spread).mean()
    assert not grown.orders.precedes[:, -1].any()
    assert not grown.orders.precedes[:, :, -1].any()


@pytest.mark.parametrize("like", [None, "arm 1"])
def test_users_who_never_tried_a_new_arm_are_seen_as_before(like: str | None) -> None:
    """A scale is around the average of all arms, which one more may move a little."""
    prior = make_prior()
    grown = prior.with_arm("new", like)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, (6, 4))
    sums = rng.standard_normal((6, 4)) * counts
    more = np.zeros((6, 1))
    chances, means, _ = prior.posterior(counts, sums)
    wider = grown.posterior(np.hstack([counts, more]), np.hstack([sums, more]))
    near = 1e-9 if like is None else 0.1
    np.testing.assert_allclose(wider[0], chances, atol=near)
    np.testing.assert_allclose(wider[1][:, :-1], means, atol=near)
    if like:
        np.testing.assert_allclose(wider[1][:, -1], wider[1][:, 1], atol=1e-9)


def test_policies_take_a_new_arm() -> None:
    grown = make_prior().with_arm("new", like="arm 0")
    for policy in (lob.LobBayes(grown), lob.MixTS(grown), lob.Popular(grown)):
        assert policy.choose(policy.start(3), rng=0).shape == (3,)


def test_names_of_new_arms_must_be_new_and_known() -> None:
    with pytest.raises(LobInputError, match="there is an arm 'arm 1' already"):
        make_prior().with_arm("arm 1")
    with pytest.raises(LobInputError, match="'none'"):
        make_prior().with_arm("new", like="none")
