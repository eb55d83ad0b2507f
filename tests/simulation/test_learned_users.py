"""Users as a learned model sees them."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import lobandits as lob
from lobandits.beliefs import likelihood
from lobandits.simulation.learned_users import LearnedUsers

RATINGS = lob.make_ratings(n_users=120, n_arms=4, n_states=2, ratings_per_user=60, seed=1)
MODEL = lob.learn(RATINGS.table, "userId", "genre", "rating", n_states=2)


def model_of_rates(kind: str) -> lob.Model:
    """Return a model of 120 users of two kinds, with 20 clicks or counts from each of 3 arms."""
    rng = np.random.default_rng(2)
    users, arms = np.repeat(np.arange(120), 60), np.tile(np.repeat(np.arange(3), 20), 120)
    rates = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])[users % 2, arms]
    rewards = rng.binomial(1, rates) if kind == "bernoulli" else rng.poisson(5 * rates)
    logs = pl.DataFrame({"user": users, "arm": np.array(["x", "y", "z"])[arms], "reward": rewards})
    return lob.learn(logs, n_states=2, likelihood=kind)


def test_users_come_from_the_prior() -> None:
    problems = LearnedUsers(MODEL).sample(2000, seed=0)
    assert problems.prior == MODEL.prior
    assert problems.arms == MODEL.arms
    assert problems.sigma == MODEL.sigma
    np.testing.assert_allclose(problems.means.mean(axis=0), MODEL.prior.population_mean, atol=0.1)
    counts = np.bincount(problems.states) / 2000
    np.testing.assert_allclose(counts, MODEL.prior.shares, atol=0.05)


@pytest.mark.parametrize("kind", ["bernoulli", "poisson"])
def test_rewards_are_as_the_likelihood_says(kind: str) -> None:
    model = model_of_rates(kind)
    env = LearnedUsers(model)
    problems = env.sample(4000, seed=0)
    assert problems.rewards == kind
    assert problems.sigma == model.sigma
    assert problems.prior is model.prior
    assert (problems.means >= 0).all()
    assert (problems.means <= (1 if kind == "bernoulli" else 50)).all()
    error = problems.means.std(axis=0) / np.sqrt(4000)
    away = np.abs(problems.means.mean(axis=0) - model.prior.population_mean)
    assert (away <= 5 * error + 0.01 * model.prior.population_mean).all()
    result = lob.simulate(env, ["popular", "lobbayes"], 60, 400, progress=False)
    assert result.difference("popular", "lobbayes").low > 0


def test_orders_are_made_for_policies_that_ask_for_them() -> None:
    model = lob.learn(RATINGS.table, "userId", "genre", "rating", n_states=2)
    problems = LearnedUsers(model).sample(8, seed=0)
    assert (problems.orders, problems.n_states) == (None, 2)
    assert lob.make_policy("lobbayes", problems).arms == model.arms
    assert "orders" not in vars(model.prior)
    assert lob.make_policy("lobts", problems).orders == model.orders  # type: ignore[attr-defined]
    assert problems.known_orders == model.orders
    assert problems.take([1]).known_orders == model.orders


def test_sigma_of_ones_own_is_told_to_policies_too() -> None:
    problems = LearnedUsers(MODEL, sigma=2.0).sample(3, seed=0)
    assert problems.sigma == 2.0
    assert problems.prior is not None
    assert problems.prior.likelihood == lob.Gaussian(2.0)
    np.testing.assert_array_equal(problems.means, LearnedUsers(MODEL).sample(3, seed=0).means)


def test_parts_are_parts_of_the_whole() -> None:
    env = LearnedUsers(MODEL)
    whole, part = env.sample(40, seed=3), env.sample(10, seed=3, first=16)
    np.testing.assert_array_equal(whole.means[16:26], part.means)
    np.testing.assert_array_equal(whole.states[16:26], part.states)


def test_policies_play_on_it() -> None:
    result = lob.simulate(LearnedUsers(MODEL), ["lobts", "lobbayes"], 10, 8, progress=False)
    assert set(result.totals) == {"lobts", "lobbayes"}
    assert repr(LearnedUsers(MODEL)).startswith("LearnedUsers(Model(n_states=2, n_arms=4, ")


def test_what_is_no_model_or_cannot_be_simulated_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(lob.LobInputError, match="model must be a Model, got Prior"):
        LearnedUsers(MODEL.prior)  # type: ignore[arg-type]
    with pytest.raises(lob.LobInputError, match="sigma must be positive"):
        LearnedUsers(MODEL, sigma=0.0)
    clicks = model_of_rates("bernoulli")
    with pytest.raises(lob.LobInputError, match=r"sigma is 2\.0, but the noise of bernoulli"):
        LearnedUsers(clicks, sigma=2.0)
    monkeypatch.setattr(likelihood, "LIKELIHOODS", {})

    class Doubled(lob.Poisson):
        name: ClassVar[str] = "doubled"

    own = replace(clicks, prior=clicks.prior.with_likelihood(Doubled()))
    with pytest.raises(lob.LobInputError, match="rewards are 'doubled', and simulated are gaussi"):
        LearnedUsers(own)
