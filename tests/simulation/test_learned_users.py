"""Users as a learned model sees them."""

import numpy as np
import polars as pl
import pytest

import lobandits as lob
from lobandits.simulation.learned_users import LearnedUsers

RATINGS = lob.make_ratings(n_users=120, n_arms=4, n_states=2, ratings_per_user=60, seed=1)
COLUMNS = ("userId", "genre", "rating")
MODEL = lob.learn_orders(RATINGS.table, *COLUMNS, n_states=2)
CLUSTERS = lob.learn_orders(RATINGS.table, *COLUMNS, n_states=2, method="kendall")


def test_users_come_from_the_prior() -> None:
    problems = LearnedUsers(MODEL).sample(2000, seed=0)
    assert MODEL.prior is not None
    assert problems.prior == MODEL.prior
    assert problems.orders == MODEL.orders
    assert problems.sigma == MODEL.sigma
    np.testing.assert_allclose(problems.means.mean(axis=0), MODEL.prior.population_mean, atol=0.1)
    counts = np.bincount(problems.states) / 2000
    np.testing.assert_allclose(counts, MODEL.prior.shares, atol=0.05)


@pytest.mark.parametrize("model", [MODEL, CLUSTERS])
def test_parts_are_parts_of_the_whole(model: lob.OrderModel) -> None:
    env = LearnedUsers(model, sigma=2.0)
    whole, part = env.sample(40, seed=3), env.sample(10, seed=3, first=16)
    np.testing.assert_array_equal(whole.means[16:26], part.means)
    np.testing.assert_array_equal(whole.states[16:26], part.states)
    assert part.sigma == 2.0


def test_without_a_prior_users_have_the_means_of_their_state() -> None:
    problems = LearnedUsers(CLUSTERS).sample(8, seed=0)
    np.testing.assert_array_equal(problems.means, CLUSTERS.state_means[problems.states])
    assert problems.prior is None


def test_policies_play_on_it() -> None:
    result = lob.simulate(LearnedUsers(MODEL), ["lobts", "lobbayes"], 10, 8, progress=False)
    assert set(result.totals) == {"lobts", "lobbayes"}


def test_what_is_no_model_or_has_no_noise_is_refused() -> None:
    with pytest.raises(lob.LobInputError, match="model must be an OrderModel, got Prior"):
        LearnedUsers(MODEL.prior)  # type: ignore[arg-type]
    logs = {"user": [1, 1, 2, 2], "arm": ["x", "y"] * 2, "reward": [4, 1, 3, 2]}
    silent = lob.learn_orders(pl.DataFrame(logs), n_states=1, method="kendall")
    with pytest.raises(lob.LobInputError, match="does not know how noisy rewards are; give sigma"):
        LearnedUsers(silent)
