"""Judged users come with their features, in simulations, evaluations and replays."""

import numpy as np
import polars as pl
from tests.learning.planted import known, world

import lobandits as lob
from lobandits.learning.fit_prior import fit_prior
from lobandits.learning.learn import model_of
from lobandits.simulation.learned_users import LearnedUsers


def logs(share: float, seed: int = 0) -> pl.DataFrame:
    """Rows of users who differ little but by two features, and each feature's column."""
    w = world(300, 5, 2, share, seed)
    user, arm = np.nonzero(w.table.counts)
    rows = {"user": user, "arm": np.array(w.table.arms)[arm], "reward": w.table.means[user, arm]}
    return pl.DataFrame(rows | {"one": w.x[user, 0], "two": w.x[user, 1]})


def test_users_of_a_model_have_features_and_policies_see_them() -> None:
    w = world(600, 5, 2, 0.5, seed=1)
    model = model_of(w.table, lob.Gaussian(1.0), 1, {}, features=known(w.x))
    env = LearnedUsers(model)
    problems = env.sample(40, seed=3)
    assert problems.features is not None
    part = env.sample(8, seed=3, first=16)
    np.testing.assert_array_equal(problems.features[16:24], part.features)
    np.testing.assert_array_equal(problems.take([17]).features, problems.features[[17]])
    result = lob.simulate(env, ["lobbayes", "popular", "ucb"], 3, 400, progress=False)
    blind = fit_prior(w.table, lob.Gaussian(1.0), 1).prior
    told, without = result.regret["lobbayes"][:, 0], result.regret["popular"][:, 0]
    assert told.mean() < 0.8 * without.mean()
    assert blind.features is None


def test_an_evaluation_gives_judged_users_their_features() -> None:
    options = {"horizon": 5, "n_states": 1, "splits": 2, "players": 16, "likelihood": "gaussian"}
    with_them = lob.evaluate(logs(0.6), ["popular", "lobbayes"], features=["one", "two"], **options)  # type: ignore[arg-type]
    without = lob.evaluate(logs(0.6), ["popular", "lobbayes"], **options)  # type: ignore[arg-type]
    first = with_them.points.index(5)
    earned = [e.rewards["lobbayes"][..., first].mean() for e in (with_them, without)]
    popular = [e.rewards["popular"][..., first].mean() for e in (with_them, without)]
    assert earned[0] - popular[0] > 1.2 * (earned[1] - popular[1])
    assert all(model.prior.features is not None for model in with_them.models)
