"""The real-data environment: on generated ratings what must always hold, on real ones the paper."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import pairwise
from multiprocessing import get_context

import numpy as np
import pytest
from tests.paper.movielens.editions import REAL

from lobandits.basics.checks import FloatArray
from lobandits.errors import LobInputError
from lobandits.learning import RewardTable, make_ratings
from lobandits.paper.clustering import KendallKMeans
from lobandits.paper.movielens import load_movielens
from lobandits.paper.movielens.environment import MovieLens, choose_held_out
from lobandits.simulation import Environment, simulate

needs_real = pytest.mark.skipif(not REAL.exists(), reason="needs the ratings of ml-latest-small")


@cache
def generated() -> MovieLens:
    """Few ratings with much noise: raw means violate the orders."""
    ratings = make_ratings(n_users=120, n_arms=7, n_states=6, ratings_per_user=30)
    return MovieLens(ratings, n_states=6)


@cache
def real() -> MovieLens:
    return MovieLens(load_movielens(REAL), min_movie_ratings=20, min_user_ratings=100)


def mixed(env: MovieLens, alpha: float) -> FloatArray:
    """Return all users' means by the paper's words, user by user."""
    rankings = [order.ranking for order in env.orders]
    means = []
    for raw, state in zip(env.clusters.raw, env.clusters.states, strict=True):
        ranking = list(rankings[state])
        lift = env.min_gap * np.arange(len(ranking))
        fit = np.empty(len(ranking))
        fit[ranking] = isotonic(raw[ranking] + lift) - lift
        means.append(alpha * raw + (1 - alpha) * fit)
    return np.array(means)


def isotonic(values: FloatArray) -> FloatArray:
    """Return the nearest decreasing values by the max-min formula of averages."""
    n = len(values)
    return np.array(
        [
            min(max(values[i : j + 1].mean() for j in range(t, n)) for i in range(t + 1))
            for t in range(n)
        ]
    )


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_means_are_the_mix_of_raw_and_projected_ones(alpha: float) -> None:
    env = generated().replace(alpha=alpha)
    means, states = mixed(env, alpha), env.clusters.states
    problems = env.sample(env.n_users, seed=3)
    order = np.lexsort(means.T)
    sampled = np.lexsort(problems.means.T)
    assert np.allclose(problems.means[sampled], means[order], atol=1e-9)
    assert problems.states[sampled].tolist() == states[order].tolist()
    believed = [means[states == state].mean(axis=0) for state in range(env.orders.n_states)]
    assert problems.state_means is not None
    assert np.allclose(problems.state_means, believed)
    assert problems.orders == env.orders
    assert problems.sigma == 2.0


def test_setting_a_keeps_every_order_with_the_gap() -> None:
    problems = generated().sample(120, seed=0)
    for means, state in zip(problems.means, problems.states.tolist(), strict=True):
        ranked = means[list(generated().orders[state].ranking)]
        assert (np.diff(ranked) <= -0.01 + 1e-9).all()


def test_violations_are_counted_between_neighbours() -> None:
    env = generated()
    assert env.violations() == 0
    counts = []
    for raw, state in zip(env.means0, env.clusters.states.tolist(), strict=True):
        ranking = env.orders[state].ranking
        counts.append(sum(raw[better] < raw[worse] for better, worse in pairwise(ranking)))
    assert env.violations(alpha=1.0) == pytest.approx(np.mean(counts))
    assert env.replace(alpha=1.0).violations() == env.violations(alpha=1.0)
    assert 0 < env.replace(alpha=0.2).violations() <= env.replace(alpha=1.0).violations() < 6


def test_raw_means_are_the_table_and_imputed_where_there_is_none() -> None:
    env = generated()
    table, raw = env.table, env.clusters.raw
    missing = np.isnan(table.means)
    assert np.array_equal(raw[~missing], table.means[~missing])
    assert env.imputed_share == pytest.approx(missing.mean())
    assert 0.05 < env.imputed_share < 0.3
    user, arm = np.argwhere(missing)[0]
    own = np.nanmean(table.means, axis=1, keepdims=True)
    offset = np.nanmean(table.means - own, axis=0)[arm]
    assert raw[user, arm] == pytest.approx(own[user, 0] + offset)


def test_states_are_those_of_the_clustering() -> None:
    env = generated()
    kmeans = KendallKMeans(6, random_state=0).fit(env.table.means)
    assert env.clusters.states.tolist() == kmeans.labels_.tolist()
    assert [list(order.ranking) for order in env.orders] == kmeans.rankings_.tolist()
    assert env.orders.arms == env.table.arms


def test_a_sample_is_a_part_of_one_shuffle() -> None:
    env = generated()
    whole = env.sample(120, seed=5)
    assert np.array_equal(env.sample(10, seed=5).means, whole.means[:10])
    assert np.array_equal(env.sample(16, seed=5, first=24).means, whole.means[24:40])
    assert not np.array_equal(env.sample(120, seed=6).means, whole.means)
    assert np.array_equal(np.sort(env.sample(120, seed=6).means, axis=0), np.sort(whole.means, 0))
    assert isinstance(env, Environment)


def test_more_users_than_there_are() -> None:
    with pytest.raises(LobInputError, match="generated has 120 in play; ask for fewer"):
        generated().sample(121, seed=0)
    with pytest.raises(LobInputError, match="users 112 to 127 were asked for"):
        generated().sample(16, seed=0, first=112)
    with pytest.raises(LobInputError, match="120 in play"):
        simulate(generated(), ["ucb"], horizon=4, n_users=500, progress=False)


def test_what_options_leave_as_it_is_is_not_computed_again() -> None:
    env = generated()
    for options in ({"alpha": 0.5}, {"sigma": 1.0}, {"min_gap": 0.1}):
        assert env.replace(**options).clusters is env.clusters
    other = env.replace(n_states=3)
    assert other.table is env.table
    assert other.orders.n_states == 3
    assert env.replace(hold_out=0.5).clusters is not env.clusters
    assert env.replace(seed=1).clusters is not env.clusters
    wide = env.replace(min_gap=0.1)
    assert np.diff(np.sort(wide.sample(120, 0).means, axis=1)).min() > 0.099
    with pytest.raises(TypeError):
        env.replace(beta=1)


def test_users_held_out_have_no_part_in_learning() -> None:
    env = generated().replace(hold_out=0.25)
    held = env.clusters.held_out
    assert env.n_users == held.sum() == 30
    kmeans = KendallKMeans(6, random_state=0).fit(env.table.means[~held])
    assert [list(order.ranking) for order in env.orders] == kmeans.rankings_.tolist()
    problems = env.sample(30, seed=0)
    assert {tuple(row) for row in problems.means.tolist()} == {
        tuple(row) for row in env.projected[held].tolist()
    }
    learned = env.projected[~held]
    states = env.clusters.states[~held]
    believed = [learned[states == state].mean(axis=0) for state in range(6)]
    assert problems.state_means is not None
    assert np.allclose(problems.state_means, believed)
    with pytest.raises(LobInputError, match="30 in play"):
        env.sample(31, seed=0)


def test_a_table_of_any_users_and_arms() -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(40, 3))
    ones = np.ones((40, 3), dtype=np.int64)
    table = RewardTable(np.arange(40), ("x", "y", "z"), ones, means, means**2)
    env = MovieLens(table, n_states=3, alpha=np.float64(1))
    assert (env.edition, env.n_users, env.n_arms, env.imputed_share) == ("table", 40, 3, 0.0)
    assert env.orders.arms == ("x", "y", "z")
    assert repr(env) == (
        "MovieLens('table', n_states=3, alpha=1.0, sigma=2.0, min_movie_ratings=200, "
        "min_user_ratings=200, min_gap=0.01, seed=0, hold_out=0.0)"
    )


def test_a_pickled_copy_has_the_users_and_not_the_ratings() -> None:
    env = generated().replace(alpha=0.3)
    copy = pickle.loads(pickle.dumps(env))
    assert np.array_equal(copy.sample(50, 1).means, env.sample(50, 1).means)
    assert repr(copy) == repr(env)
    assert copy.ratings is copy.table
    assert copy.replace(alpha=1.0).violations() == env.replace(alpha=1.0).violations()
    assert env.replace(n_states=3).orders == copy.replace(n_states=3).orders


def test_processes_give_the_same_numbers() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        other = simulate(generated(), ["ucb"], 20, 32, executor=pool, workers=2, progress=False)
    here = simulate(generated(), ["ucb"], 20, 32, progress=False)
    assert np.array_equal(here.regret["ucb"], other.regret["ucb"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratings": "ml-20m.zip"}, "ratings must come from load_movielens"),
        ({"n_states": 0}, "n_states"),
        ({"alpha": 1.5}, "alpha must lie between 0 and 1"),
        ({"sigma": 0}, "sigma must be positive"),
        ({"min_gap": -1}, "min_gap must not be negative"),
        ({"min_movie_ratings": 0}, "min_movie_ratings"),
        ({"seed": -1}, "seed"),
        ({"hold_out": 1.0}, "leaves nobody to learn from"),
    ],
)
def test_wrong_options_are_refused_at_once(options: dict[str, object], message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        generated().replace(**options)


def test_more_states_than_users() -> None:
    with pytest.raises(LobInputError, match="only 120 users to learn from"):
        generated().replace(n_states=121).sample(1, 0)
    with pytest.raises(LobInputError, match="only 60 users to learn from"):
        generated().replace(n_states=61, hold_out=0.5).sample(1, 0)


def test_a_table_needs_two_arms_and_users_without_rewards_are_left_out() -> None:
    counts = np.array([[1, 0, 2], [0, 0, 0], [3, 0, 1], [2, 0, 2]])
    table = RewardTable(np.arange(4), ("x", "y", "z"), counts, 2.0 * counts, 4.0 * counts)
    env = MovieLens(table, n_states=1)
    assert (env.n_users, env.orders.arms) == (3, ("x", "z"))
    one = RewardTable(np.arange(4), ("x",), counts[:, :1], 1.0 * counts[:, :1], 1.0 * counts[:, :1])
    with pytest.raises(LobInputError, match=r"of 1 arm, \['x'\]; orders need two"):
        MovieLens(one, n_states=1).sample(1, 0)
    with pytest.raises(LobInputError, match=r"of 0 arms, \[\]"):
        MovieLens(table.take([1]), n_states=1).sample(1, 0)


def test_an_arm_that_only_held_out_users_tried_is_named() -> None:
    counts = np.ones((6, 3), dtype=np.int64)
    counts[:5, 2] = 0
    sums = counts.astype(np.float64)
    table = RewardTable(np.arange(6), ("x", "y", "z"), counts, sums, sums)
    seed = next(seed for seed in range(99) if choose_held_out(6, 0.5, seed)[5])
    with pytest.raises(LobInputError, match="not held out tried the arm 'z'; lower hold_out"):
        MovieLens(table, n_states=1, hold_out=0.5, seed=seed).sample(1, 0)


@needs_real
def test_real_users_genres_and_violated_relations() -> None:
    env = real()
    assert (env.n_users, env.n_arms, env.edition) == (201, 19, "ml-latest-small")
    assert env.orders.n_states == 60
    assert 0.05 < env.imputed_share < 0.2
    counts = [env.replace(alpha=alpha).violations() for alpha in (0.0, 0.2, 0.6, 1.0)]
    assert counts[0] == 0
    assert all(5.5 < count < 7.5 for count in counts[1:])
    assert counts == sorted(counts)


@needs_real
def test_lobts_has_the_least_regret_on_real_users_in_setting_a() -> None:
    others = ["ucb", "ts", "lobucb", "mucb"]
    result = simulate(real(), [*others, "lobts"], horizon=4000, n_users=48, progress=False)
    for other in others:
        difference = result.difference(other, "lobts", level=0.9999)
        assert difference.low > 0, difference


@needs_real
def test_the_lower_bound_of_real_users() -> None:
    result = simulate(real(), ["ts"], horizon=100, n_users=8, progress=False)
    assert 0 < result.lower_bound() < 1000
    assert "lower bound: c log T" in str(result.summary(bound=True))
    raw = simulate(real().replace(alpha=1.0), ["ts"], horizon=100, n_users=8, progress=False)
    with pytest.raises(LobInputError, match="agree"):
        raw.summary(bound=True)
