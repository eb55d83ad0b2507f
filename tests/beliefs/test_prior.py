"""Prior as a value: checks, orders, moments, draws, files, words, new arms."""

import json
import pickle
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import norm
from tests.beliefs.cases import random_prior
from tests.beliefs.reference import components_of

import lobandits as lob
from lobandits.beliefs import Bernoulli, Gaussian, Likelihood, Poisson, Prior, checked_prior
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders

GOOD: dict[str, Any] = {
    "arms": ["x", "y"],
    "shares": [0.75, 0.25],
    "means": [[3.0, 1.0], [1.0, 4.0]],
    "loadings": [[0.5], [0.5]],
    "own": [0.1, 0.2],
    "scales": [0.2, 0.3],
    "likelihood": Gaussian(1.0),
}
KINDS: list[Likelihood] = [Gaussian(0.7), Bernoulli(), Poisson()]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("arms", ["x"], "arms"),
        ("arms", ["x", "x"], "arms"),
        ("shares", [0.5, 0.4], r"2 positive numbers that sum to 1.* got \[0.5, 0.4\]"),
        ("shares", [1.0, 0.0], "positive"),
        ("shares", [1.0], "shares must be 2"),
        ("means", [[np.nan, 1.0], [0.0, 1.0]], "means"),
        ("means", [1.0, 2.0], "means must have 2 axes"),
        ("loadings", [[1.0]], r"loadings must have a row for each of the 2 arms, got .*\(1, 1\)"),
        ("loadings", [1.0, 2.0], "loadings must have a row for each of the 2 arms"),
        ("loadings", [[np.inf], [0.0]], "loadings"),
        ("own", [0.1, -0.1], "own must be 2 numbers that are not negative, one for each arm"),
        ("own", [0.1], "own must be 2 numbers"),
        ("scales", [-0.1, 0.2], "scales must be 2 numbers .* one for each state"),
        ("likelihood", "gaussian", r"likelihood must be Gaussian\(sigma\).* got 'gaussian'"),
        ("likelihood", Gaussian(np.ones(3)), "3 sigmas, but there are 2 arms"),
        ("factors", [0.0], "factors must be positive"),
        ("factors", [], "factors must be positive"),
        ("directions", np.ones((2, 3, 1)), r"directions must have the shape \(2, 2, e\)"),
        (
            "known",
            LatentOrders.from_rankings([[0, 1]], arms=["x", "y"]),
            "1 state over .*the prior has 2 states",
        ),
        ("known", LatentOrders.from_rankings([[0, 1], [1, 0]]), "over the arms"),
    ],
)
def test_wrong_fields_are_named(field: str, value: object, message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        Prior(**GOOD | {field: value})


def test_a_prior_is_a_value() -> None:
    prior = Prior(**GOOD)
    assert prior == Prior(**GOOD)
    assert hash(prior) == hash(Prior(**GOOD))
    assert prior != Prior(**GOOD | {"own": [0.1, 0.3]})
    assert pickle.loads(pickle.dumps(prior)) == prior
    with pytest.raises(ValueError, match="read-only"):
        prior.means[0, 0] = 3.0
    assert (prior.n_arms, prior.n_states, prior.prior) == (2, 2, prior)


def test_orders_follow_from_means() -> None:
    prior = Prior(**GOOD)
    assert [list(order.ranking) for order in prior.orders] == [[0, 1], [1, 0]]
    known = LatentOrders.from_relations(2, [[(1, 0)], []], ["x", "y"])
    assert Prior(**GOOD | {"known": known}).orders is known


def test_sure_orders_keep_what_most_users_keep() -> None:
    prior = random_prior(3, 6, seed=0)
    rng = np.random.default_rng(0)
    sure = prior.sure_orders(0.9)
    assert not sure.is_total
    assert sure.precedes.any()
    for s, c in enumerate(components_of(prior)):
        users = rng.multivariate_normal(c.mean, c.covariance, 20_000)
        share = (users[:, :, None] > users[:, None, :]).mean(axis=0)
        assert (share[sure.precedes[s]] > 0.88).all()
        assert (share[~sure.precedes[s]] < 0.92).all()
    for level in (0.4, 1.0, 2.0):
        with pytest.raises(LobInputError, match="level"):
            prior.sure_orders(level)


def test_kept_order_is_the_share_of_pairs_that_users_rank_alike() -> None:
    prior = Prior(**GOOD)
    states, means = prior.draw(100_000, 0)
    agree = np.where(states == 0, means[:, 0] > means[:, 1], means[:, 1] > means[:, 0])
    shares = [agree[states == s].mean() for s in range(2)]
    np.testing.assert_allclose(prior.kept_order(), shares, atol=0.01)
    free = LatentOrders.from_relations(2, [[(0, 1)], []], ["x", "y"])
    kept = Prior(**GOOD | {"known": free}).kept_order()
    assert np.isnan(kept).tolist() == [False, True]


@kinds
def test_users_are_drawn_as_the_prior_says(kind: Likelihood) -> None:
    prior = random_prior(3, 4, seed=2, likelihood=kind, level=-1.0)
    states, means = prior.draw(200_000, np.random.default_rng(3))
    np.testing.assert_allclose(np.bincount(states) / 200_000, prior.shares, atol=0.005)
    for s, c in enumerate(components_of(prior)):
        eta = kind.link(means[states == s])
        np.testing.assert_allclose(eta.mean(axis=0), c.mean, atol=0.05)
        np.testing.assert_allclose(np.cov(eta.T), c.covariance, atol=0.1)
    near = 0.02 * means.std(axis=0).max()
    np.testing.assert_allclose(means.mean(axis=0), prior.population_mean, atol=near)
    for s in range(3):
        average = means[states == s].mean(axis=0)
        np.testing.assert_allclose(average, prior.state_means[s], rtol=0.05, atol=0.02)


def test_factors_stretch_users_but_not_their_shift() -> None:
    prior = random_prior(2, 3, seed=4, factors=(0.5, 2.0), e=1)
    _, means = prior.draw(200_000, 5)
    components = components_of(prior)
    weight = np.exp([c.log_share for c in components])
    mean = weight @ np.array([c.mean for c in components])
    cov = sum(
        w * (c.covariance + np.outer(c.mean - mean, c.mean - mean))
        for w, c in zip(weight, components, strict=True)
    )
    size = float(np.sqrt(np.trace(np.asarray(cov))))
    np.testing.assert_allclose(means.mean(axis=0), mean, atol=0.02 * size)
    np.testing.assert_allclose(np.cov(means.T), cov, atol=0.03 * size**2)
    np.testing.assert_allclose(prior.population_mean, mean)


def test_sigma_is_the_noise_of_rewards() -> None:
    assert Prior(**GOOD).sigma == 1.0
    two = Prior(**GOOD | {"likelihood": Gaussian(np.array([1.0, 3.0]))})
    assert two.sigma == pytest.approx(np.sqrt(5.0))
    clicks = random_prior(2, 4, seed=6, likelihood=Bernoulli(), level=-1.0)
    p = clicks.population_mean
    assert clicks.sigma == pytest.approx(np.sqrt((p * (1 - p)).mean()))


def test_worth_is_in_plays() -> None:
    """Noise over what users differ by: the same in any unit, more where clicks are rare."""
    one, zero = np.ones(1), np.zeros(1)
    level, own = np.full((2, 1), 3.0), np.full(2, 0.5)
    prior = Prior(("a", "b"), one, np.zeros((1, 2)), level, own, zero, Gaussian(2.0))
    assert prior.worth == pytest.approx(4.0 / 0.25)
    larger = prior._with(own=[50.0, 50.0], loadings=[[30.0], [30.0]], likelihood=Gaussian(20.0))
    assert larger.worth == pytest.approx(prior.worth)
    rare, common = (
        random_prior(1, 3, seed=7, likelihood=Bernoulli())._with(means=np.full((1, 3), mean)).worth
        for mean in (-5.0, 0.0)
    )
    assert rare > 10 * common


def test_another_likelihood() -> None:
    prior = Prior(**GOOD)
    noisier = prior.with_likelihood(Gaussian(3.0))
    assert noisier.sigma == 3.0
    assert noisier.with_likelihood(Gaussian(1.0)) == prior


@kinds
def test_saves_and_loads(kind: Likelihood, tmp_path: Path) -> None:
    prior = random_prior(2, 3, seed=8, factors=(0.5, 2.0), e=2, likelihood=kind)
    prior.save(tmp_path / "prior.json")
    assert Prior.load(tmp_path / "prior.json") == prior
    assert Prior.from_dict(prior.to_dict()) == prior
    assert Prior.from_dict(json.loads(json.dumps(prior.to_dict()))) == prior


def test_orders_come_back_with_their_prior(tmp_path: Path) -> None:
    known = Prior.from_orders(LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]]), 2.0)
    known.save(tmp_path / "known.json")
    back = Prior.load(tmp_path / "known.json")
    assert back == known
    assert back.known == known.known


def test_no_loadings_come_back_too() -> None:
    prior = Prior(**GOOD | {"loadings": np.empty((2, 0))})
    assert Prior.from_dict(prior.to_dict()) == prior


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"spread": 1.0}, "^here.*'spread'"),
        ({"shares": [0.5, 0.6]}, "^here: shares must be 2 positive numbers"),
        ({"version": 99}, "^here.*99"),
        ({"format": "other"}, "^here"),
        ({"likelihood": {"likelihood": "cauchy"}}, "cauchy"),
        ({"own": None}, "^here.*own"),
    ],
)
def test_other_data_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(LobInputError, match=words):
        Prior.from_dict(Prior(**GOOD).to_dict() | change, "here")


def test_a_missing_field_is_named() -> None:
    for field in GOOD:
        data = Prior(**GOOD).to_dict()
        del data[field]
        with pytest.raises(LobInputError, match=field):
            Prior.from_dict(data)


def test_shares_whose_sum_is_rounded_come_back_equal() -> None:
    shares = np.array([0.4, 0.3, 0.2, 0.1])  # their sum is not quite 1
    prior = random_prior(4, 3, seed=9)._with(shares=shares)
    assert Prior.from_dict(prior.to_dict()) == prior
    assert abs(prior.shares.sum() - 1) < 1e-12
    rounded = prior._with(shares=[0.3333333, 0.3333333, 0.2333333, 0.1])
    assert rounded.shares.sum() == pytest.approx(1, abs=1e-15)


def test_prints_the_most_common_state_first() -> None:
    text = str(Prior(**GOOD | {"shares": [0.25, 0.75]})).splitlines()
    assert text[0] == "2 states of 2 arms, gaussian rewards of sigma 1, 1 loading"
    assert text[1] == "state 1: 75 % of users, scale 0.3: y 4 > x 1"
    clicks = Prior(**GOOD | {"likelihood": Bernoulli(), "loadings": np.ones((2, 2))})
    assert str(clicks).splitlines()[0] == "2 states of 2 arms, bernoulli rewards, 2 loadings"
    assert str(random_prior(1, 7, seed=1)).endswith("> ...")


def test_rows_are_in_the_rewards_unit() -> None:
    prior = random_prior(2, 3, seed=10, likelihood=Poisson(), level=0.0)
    rows = prior._rows()
    assert [row["share"] for row in rows] == prior.shares.tolist()
    assert [row["arm 1"] for row in rows] == prior.state_means[:, 1].tolist()


def test_draws_a_line_for_every_state() -> None:
    figure = random_prior(3, 4, seed=3, likelihood=Bernoulli()).plot()
    assert len(figure.axes[0].lines) == 3
    _, ax = plt.subplots()
    assert random_prior(12, 4, seed=3).plot(ax) is ax.get_figure()
    assert len(ax.lines) == 8
    plt.close("all")


def test_whatever_has_a_prior_is_taken() -> None:
    prior = Prior(**GOOD)
    assert checked_prior(prior) is prior
    for wrong in (np.eye(2), None, "model.json"):
        with pytest.raises(LobInputError, match=r"a Prior or a Model is needed.*got"):
            checked_prior(wrong)  # type: ignore[arg-type]


# New arms -----------------------------------------------------------------------------------------


def test_a_new_arm_like_another() -> None:
    prior = random_prior(3, 4, seed=0, e=1)
    grown = prior.with_arm("new", like=prior.arms[1])
    assert grown.arms == (*prior.arms, "new")
    np.testing.assert_array_equal(grown.means[:, :-1], prior.means)
    np.testing.assert_array_equal(grown.means[:, -1], prior.means[:, 1])
    np.testing.assert_array_equal(grown.loadings[-1], prior.loadings[1])
    np.testing.assert_array_equal(grown.own[:-1], prior.own)
    assert grown.own[-1] == 2 * prior.own[1]
    assert grown.directions is not None
    np.testing.assert_array_equal(grown.directions[:, -1], grown.directions[:, 1])


def test_a_new_arm_is_wide_and_seldom_the_best() -> None:
    prior = random_prior(3, 4, seed=0)
    grown = prior.with_arm("new")
    below = (prior.means.max(axis=1) - grown.means[:, -1]) / np.sqrt(grown.own[-1])
    np.testing.assert_allclose(norm.sf(below), 0.05)
    np.testing.assert_allclose(grown.loadings[-1], prior.loadings.mean(axis=0))
    wide = prior.shares @ prior.means.var(axis=1) + prior.loadings.var(axis=0).sum()
    assert grown.own[-1] == pytest.approx(prior.own.mean() + wide)


@pytest.mark.parametrize("like", [None, "arm 1"])
def test_users_who_never_tried_a_new_arm_are_seen_as_before(like: str | None) -> None:
    """A scale is around the average of all arms, which one more may move a little."""
    prior = random_prior(3, 4, seed=0)
    grown = prior.with_arm("new", like)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, (6, 4))
    sums = (2.0 + rng.standard_normal((6, 4))) * counts
    more = np.zeros((6, 1))
    chances, means, _ = prior.posterior(counts, sums)
    wider = grown.posterior(np.hstack([counts, more]), np.hstack([sums, more]))
    np.testing.assert_allclose(wider[0], chances, atol=0.15)
    np.testing.assert_allclose(wider[1][:, :-1], means, atol=0.15)


@kinds
def test_policies_take_a_new_arm(kind: Likelihood) -> None:
    grown = random_prior(3, 4, seed=0, likelihood=kind).with_arm("new", like="arm 0")
    for policy in (lob.LobBayes(grown), lob.MixTS(grown), lob.Popular(grown)):
        assert policy.choose(policy.start(3), rng=0).shape == (3,)


def test_a_new_arm_joins_known_orders_and_sigmas() -> None:
    prior = Prior.from_orders(LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]]))
    grown = prior.with_arm("new", like="1")
    assert grown.known is not None
    assert grown.known.arms == grown.arms
    sigmas = Prior(**GOOD | {"likelihood": Gaussian(np.array([1.0, 3.0]))})
    assert sigmas.with_arm("z", like="y").likelihood == Gaussian(np.array([1.0, 3.0, 3.0]))


def test_names_of_new_arms_must_be_new_and_known() -> None:
    prior = random_prior(3, 4, seed=0)
    with pytest.raises(LobInputError, match="arm 1"):
        prior.with_arm("arm 1")
    with pytest.raises(LobInputError, match="'none'"):
        prior.with_arm("new", like="none")
