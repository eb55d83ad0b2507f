"""Environments with past users: what they log, what is learned, and what stays as it was."""

import pickle
from typing import Any

import numpy as np
import pytest
from tests.simulation.helpers import same, shared_orders

import lobandits.learning.fit_prior as module
from lobandits.beliefs import Gaussian, Prior
from lobandits.errors import LobInputError
from lobandits.learning import make_ratings
from lobandits.orders import LatentOrders
from lobandits.paper.movielens.environment import MovieLens
from lobandits.policies import make_policy
from lobandits.simulation import FixedProblems, Problems, Synthetic, simulate
from lobandits.simulation.past_users import PastUsers

ENV = Synthetic(4, 2, scale=(0.8, 1.25), shift=(-1.0, 1.0), past_users=40, past_rewards=24)
ON_A_PRIOR = ["popular", "mixts", "lobbayes"]


def fixed(**options: int) -> FixedProblems:
    means = [[3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0], [2.0, 1.5, 0.0, 0.5]]
    return FixedProblems(means, shared_orders(), sigma=0.5, **options)  # type: ignore[arg-type]


def test_the_log_has_the_noise_and_the_means_of_its_users() -> None:
    past = PastUsers(fixed().sample(300, 0), n_rewards=200, seed=1)
    table = past.table
    assert (table.counts.sum(axis=1) == 200).all()
    assert np.abs(table.counts / 200 - 0.25).max() < 0.15
    assert table.noise() == pytest.approx(0.5, rel=0.02)
    errors = (table.means - past.problems.means) * np.sqrt(table.counts) / 0.5
    assert np.abs(errors).max() < 5
    assert errors.std() == pytest.approx(1, rel=0.1)
    again = PastUsers(past.problems, 200, seed=2).table
    assert (again.counts != table.counts).any()


def test_clicks_are_zeros_and_ones() -> None:
    env = Synthetic(3, 2, sigma=0.5, rewards="bernoulli", past_users=50, past_rewards=9)
    assert env.past is not None
    table = env.past.table
    np.testing.assert_array_equal(table.sums, table.squares)
    assert ((table.sums >= 0) & (table.sums <= table.counts)).all()


def test_counts_are_whole_numbers_of_their_rates() -> None:
    rates = np.array([[0.2, 1.0, 4.0], [3.0, 0.5, 0.05]])
    env = FixedProblems(rates, shared_orders(3), 1.0, rewards="poisson")
    past = PastUsers(env.sample(60, 0), n_rewards=300, seed=2)
    table = past.table
    np.testing.assert_array_equal(table.sums, np.round(table.sums))
    assert (table.squares >= table.sums).all()
    expected = past.problems.means
    errors = (table.means - expected) * np.sqrt(table.counts / expected)
    assert errors.std() == pytest.approx(1, rel=0.2)
    assert abs(errors.mean()) < 4 / np.sqrt(errors.size)


@pytest.mark.parametrize("kind", ["gaussian", "clipped", "bernoulli", "poisson"])
def test_the_prior_has_the_likelihood_of_the_rewards(kind: str) -> None:
    rates = [[0.7, 0.4, 0.1], [0.1, 0.4, 0.7], [0.5, 0.6, 0.4], [0.4, 0.3, 0.2]]
    bounds = (-5.0, 5.0) if kind == "clipped" else None
    env = FixedProblems(
        rates, shared_orders(3), 0.5, rewards=kind, bounds=bounds, past_users=80, past_rewards=60
    )
    prior = env.sample(4, 0).prior
    assert prior is not None
    assert prior.likelihood.name == ("gaussian" if kind == "clipped" else kind)
    np.testing.assert_allclose(prior.population_mean, np.mean(rates, axis=0), atol=0.1)
    result = simulate(env, ["popular", "lobbayes"], 40, 200, progress=False)
    assert result.difference("popular", "lobbayes").low > 0


def test_users_share_orders_and_keep_all_but_these() -> None:
    alone = Synthetic(4, 2, scale=(0.8, 1.25), shift=(-1.0, 1.0)).sample(40, seed=3)
    users = ENV.sample(40, seed=3)
    assert isinstance(users.orders, LatentOrders)
    assert users.states.tolist() == alone.states.tolist()
    np.testing.assert_allclose(np.sort(users.means), np.sort(alone.means))
    assert users.state_means is not None
    rankings = [order.ranking for order in users.orders]
    for state, means in zip(users.states, users.means, strict=True):
        assert np.argsort(-means).tolist() == list(rankings[state])
    assert ENV.sample(8, seed=9, first=8).orders == users.orders
    other = Synthetic(4, 2, past_users=40, past_seed=1).sample(1, seed=3)
    assert other.orders != users.orders


def test_past_users_are_others_than_those_who_play() -> None:
    assert ENV.past is not None
    past, playing = ENV.past.problems, ENV.sample(40, seed=ENV.past_seed)
    assert not np.isin(past.means, playing.means).any()
    assert past.past is None


def test_fewer_relations_are_those_of_all_users() -> None:
    env = Synthetic(5, 3, q=0.5, past_users=10)
    orders = env.sample(20, seed=0).orders
    assert isinstance(orders, LatentOrders)
    assert [int(order.precedes.sum()) > 0 for order in orders] == [True] * 3
    assert orders == env.sample(3, seed=5).orders


def test_one_prior_for_all_samples_learned_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    learn = module.fit_prior

    def counted(*args: Any, **options: Any) -> Any:
        calls.append(1)
        return learn(*args, **options)

    monkeypatch.setattr(module, "fit_prior", counted)
    env = Synthetic(4, 2, past_users=40, past_rewards=24)
    users, more = env.sample(8, seed=0), env.sample(8, seed=4, first=8)
    make_policy("lobts", users)
    assert not calls
    assert users.prior is more.prior
    assert users.take([3]).prior is users.prior
    assert pickle.loads(pickle.dumps(env)).sample(1, 0).prior == users.prior
    assert len(calls) == 1
    assert Synthetic(4, 2, past_users=40, past_rewards=24).sample(1, 7).prior == users.prior
    assert len(calls) == 2
    assert pickle.loads(pickle.dumps(env)) == env


def test_results_depend_on_no_worker() -> None:
    one = simulate(ENV, [*ON_A_PRIOR, "lobts"], 12, 20, seed=1, workers=1, progress=False)
    same_env = Synthetic(**{name: getattr(ENV, name) for name in ENV._fields()})
    two = simulate(same_env, [*ON_A_PRIOR, "lobts"], 12, 20, 1, workers=2, chunk_size=8)
    assert same(one, two)
    assert repr(ENV).endswith("past_users=40, past_rewards=24, past_seed=0)")


def test_fixed_problems_have_past_users_of_the_same_rows() -> None:
    env = fixed(past_users=30, past_rewards=40)
    prior = env.sample(5, 0).prior
    assert prior is not None
    assert prior.sigma == pytest.approx(0.5, rel=0.1)
    mean = np.mean([[3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0], [2.0, 1.5, 0.0, 0.5]], axis=0)
    np.testing.assert_allclose(prior.population_mean, mean, atol=0.3)
    assert fixed().sample(5, 0).prior is None


def test_movielens_learns_from_those_who_do_not_play() -> None:
    ratings = make_ratings(n_users=80, n_arms=5, n_states=3, ratings_per_user=30)
    env = MovieLens(ratings, n_states=3, hold_out=0.5, past_rewards=20)
    assert env.past is not None
    learners = np.flatnonzero(~env.clusters.held_out)
    np.testing.assert_array_equal(env.past.problems.means, env.means[learners])
    problems = env.sample(10, seed=0)
    assert problems.prior is not None
    assert problems.prior.arms == env.orders.arms
    assert env.replace(progress=False).past is env.past
    assert env.replace(sigma=1.0).past is not env.past
    copy = pickle.loads(pickle.dumps(env))
    assert "prior" in vars(copy.past)
    assert copy.sample(3, 1).prior == problems.prior
    assert env.replace(hold_out=0.0).sample(1, 0).prior is None


def test_a_prior_of_ones_own_must_have_the_arms() -> None:
    orders = shared_orders(2)
    content = np.ones(1), np.array([[1.0, 2.0]]), np.ones((2, 1)), np.ones(2), np.zeros(1)
    prior = Prior(orders.arms, *content, Gaussian(1.0))
    problems = Problems([[1.0, 0.0]], 1.0, [0], orders, past=prior)  # type: ignore[arg-type]
    assert problems.prior is prior
    wrong = Prior(("x", "y"), *content, Gaussian(1.0))
    with pytest.raises(LobInputError, match=r"the prior has the arms \('x', 'y'\)"):
        _ = Problems([[1.0, 0.0]], 1.0, [0], orders, past=wrong).prior  # type: ignore[arg-type]


def test_too_little_past_is_refused() -> None:
    with pytest.raises(LobInputError, match="at least two past users"):
        fixed(past_users=1)
    with pytest.raises(LobInputError, match="never tried some arm; raise past_users"):
        _ = fixed(past_users=2, past_rewards=1).sample(1, 0).prior
    with pytest.raises(LobInputError, match="past_users"):
        Synthetic(past_users=-1)
    with pytest.raises(LobInputError, match="past_rewards"):
        MovieLens(make_ratings(n_users=20, n_arms=3, n_states=2), past_rewards=0)


def test_an_environment_that_was_sent_away_learns_what_is_learned_here() -> None:
    ratings = make_ratings(n_users=60, n_arms=4, n_states=2, ratings_per_user=40)
    here = MovieLens(ratings, n_states=2, hold_out=0.5, progress=False)
    there: MovieLens = pickle.loads(pickle.dumps(here))
    assert there.past is not None
    assert here.past is not None
    assert there.orders == here.orders
    assert there.past.prior == here.past.prior
