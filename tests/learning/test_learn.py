"""From logs to a model: what was planted comes back, and bad logs are refused with a reason."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.learning.helpers import COLUMNS, in_half

import lobandits as lob
from lobandits.learning.fit_prior import fit_prior


def table_of(rewards: Any, n_users: int = 40) -> pl.DataFrame:
    """Return two rewards of each of three arms from every user, in rows."""
    users, arms = np.repeat(np.arange(n_users), 6), np.tile(list("xyz"), 2 * n_users)
    return pl.DataFrame({"user": users, "arm": arms, "reward": np.resize(rewards, len(users))})


def clicks(seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 2, 240).astype(np.float64)


def with_one(value: Any) -> pl.DataFrame:
    """Return clicks of which the first is another value."""
    first = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(value, pl.Float64))
    return table_of(clicks()).with_columns(reward=first.otherwise(pl.col("reward")))


def relabelled(learned: lob.LatentOrders, planted: lob.LatentOrders) -> bool:
    """Whether both have the same states, perhaps with other numbers."""
    return learned.arms == planted.arms and set(learned) == set(planted)


def test_enough_ratings_give_the_planted_orders() -> None:
    ratings = lob.make_ratings(500, 10, 8, ratings_per_user=400, seed=2)
    model = lob.learn(ratings.table, **COLUMNS, n_states=8)
    assert relabelled(model.orders, ratings.orders)
    agree = [
        model.orders[s] == ratings.orders[t]
        for s, t in zip(model.labels, ratings.states, strict=True)
    ]
    assert np.mean(agree) > 0.99
    assert model.sigma == pytest.approx(1.0, rel=0.02)


def test_the_model_follows_from_its_prior() -> None:
    table, held = in_half(lob.make_ratings(600, 6, 3, ratings_per_user=100, seed=1))
    model, learned = lob.learn(table, n_states=3), fit_prior(table, n_states=3)
    assert model.prior == learned.prior
    assert (model.orders, model.arms) == (learned.prior.orders, table.arms)
    assert model.curve is None
    assert (model.sigma, model.sigma_from) == (learned.prior.sigma, "cells")
    np.testing.assert_array_equal(model.labels, learned.labels)
    np.testing.assert_array_equal(model.sizes, np.bincount(learned.labels, minlength=3))
    np.testing.assert_array_equal(model.predict(table), model.labels)
    chances = learned.prior.posterior(held.counts, held.sums)[0]
    np.testing.assert_array_equal(model.predict(held), chances.argmax(axis=1))


def test_the_evidence_chooses_the_number_of_states() -> None:
    model = lob.learn(lob.make_ratings(300, 6, 2, ratings_per_user=60, seed=3).table, **COLUMNS)
    assert model.curve is not None
    assert model.prior.n_states == model.curve.chosen >= 2
    assert "states beat one on held-out users" in model.curve.verdict


def test_noise_has_one_state() -> None:
    model = lob.learn(table_of(np.random.default_rng(0).standard_normal(900), 150))
    assert model.prior.n_states == 1
    assert model.curve is not None
    assert "no types of users" in model.curve.verdict


def test_states_that_differ_in_numbers_only_stay_apart() -> None:
    """Filters make warnings errors, so this also tells that nothing warns."""
    rng = np.random.default_rng(0)
    means = np.where(np.arange(200)[:, None] % 2, [3.0, 2.0, 1.0], [9.0, 4.0, 0.0])
    values = np.repeat(means[:, None], 20, axis=1) + 0.1 * rng.standard_normal((200, 20, 3))
    users = np.repeat(np.arange(200), 60)
    rows = {"user": users, "arm": np.tile(list("abc"), 4000), "reward": values.ravel()}
    model = lob.learn(pl.DataFrame(rows), n_states=2)
    assert model.orders[0] == model.orders[1]
    assert model.sizes.tolist() == [100, 100]
    lob.LobTS(model.orders, model.sigma)


def test_the_likelihood_is_that_of_the_rewards_unless_told() -> None:
    counts = np.random.default_rng(1).poisson(2.0, 240).astype(np.float64)
    kinds: list[tuple[Any, Any, str, str]] = [
        (clicks(), None, "bernoulli", "none"),
        (clicks(), "gaussian", "gaussian", "cells"),
        (counts, None, "gaussian", "cells"),
        (counts, "poisson", "poisson", "none"),
        (counts, lob.Gaussian(2.0), "gaussian", "given"),
    ]
    for rewards, given, name, source in kinds:
        model = lob.learn(table_of(rewards), likelihood=given, n_states=1)
        assert (model.likelihood.name, model.sigma_from) == (name, source)
    assert model.likelihood == lob.Gaussian(2.0)
    assert model.options["likelihood"] == {"likelihood": "gaussian", "sigma": 2.0}


@pytest.mark.parametrize(("arm", "value", "low", "high"), [("x", 0, 0, 0.1), ("z", 1, 0.9, 1)])
def test_arms_with_equal_clicks_have_rates_near_the_edge(
    arm: str, value: int, low: float, high: float
) -> None:
    """A rate of exactly 0 or 1 would be certain after a few rewards."""
    logs = table_of(clicks())
    edge = pl.when(pl.col("arm") == arm).then(pl.lit(float(value))).otherwise(pl.col("reward"))
    model = lob.learn(logs.with_columns(reward=edge))
    rate = model.prior.population_mean[model.arms.index(arm)]
    assert low < rate < high
    policy = lob.LobBayes(model)
    assert np.isfinite(policy.probabilities(policy.start())).all()


def test_the_options_are_one_record() -> None:
    times = np.arange(240)
    logs = table_of(clicks()).with_columns(time=times)
    model = lob.learn(logs, n_states=1, time="time", half_life=50, min_arm_rewards=2, seed=3)
    assert model.options == {
        "user": "user", "arm": "arm", "reward": "reward", "context": None, "time": "time",
        "since": None, "half_life": 50, "min_user_rewards": 1, "min_arm_rewards": 2,
        "skip_empty": False, "likelihood": None, "n_states": 1, "seed": 3,
    }  # fmt: skip


def test_threads_and_shuffled_rows_change_no_bit() -> None:
    logs = pl.DataFrame(lob.make_ratings(200, 6, 3, seed=1).table).with_columns(
        (pl.col("rating") * 2).round() / 2
    )
    mixed = logs.sample(fraction=1.0, shuffle=True, seed=0)
    first, again = (lob.learn(rows, **COLUMNS, workers=n) for rows, n in ((logs, 1), (mixed, 2)))
    assert again.prior == first.prior
    assert again.labels.tobytes() == first.labels.tobytes()


@pytest.mark.parametrize(
    ("logs", "options", "message"),
    [
        (with_one(np.nan), {}, r"row 1 \(user=0, arm='x', reward=nan\)\. Correct or leave out"),
        (with_one(np.inf), {}, r"row 1 \(user=0, arm='x', reward=inf\)\. Correct or leave out"),
        (with_one(None), {}, r"reward=None\).* skip_empty"),
        (table_of(clicks()).head(0), {}, "the table has no rows"),
        (table_of(clicks(), 1), {}, "column 'user' has 1 user, 0; learning needs at least two"),
        (table_of(clicks()).with_columns(arm=pl.lit("x")), {}, "column 'arm' has 1 arm, 'x'"),
        (table_of(0.0), {}, "all rewards are equal, on average 0"),
        (table_of(1.0), {}, "all rewards are equal, on average 1"),
        (table_of(3.0), {}, "all rewards are equal"),
        (with_one(-2.0), {"likelihood": "poisson"}, r"poisson rewards are counts.*'gaussian'"),
        (with_one(0.3), {"likelihood": "poisson"}, "poisson rewards are whole numbers"),
        (with_one(5.0), {"likelihood": "bernoulli"}, "bernoulli rewards are 0 or 1, and 1 pair"),
        (table_of(clicks()), {"likelihood": "binomial"}, "unknown likelihood 'binomial'; did you"),
        (table_of(clicks()), {"likelihood": 3}, r"an object such as Gaussian\(1.0\), got 3"),
        (
            table_of(clicks()),
            {"likelihood": lob.Gaussian(np.ones(2))},
            "likelihood has 2 sigmas, but there are 3 arms; give one for each of x, y, z",
        ),
        (table_of(clicks()), {"n_states": 41}, "n_states is 41, but there are only 40 users"),
        (table_of(clicks()), {"n_states": 0}, "n_states must be a whole number"),
        (table_of(clicks()), {"seed": -1}, "seed"),
        (table_of(clicks()), {"min_user_rewards": 9}, "min_user_rewards"),
    ],
)
def test_bad_input_is_named(logs: Any, options: Any, message: str) -> None:
    with pytest.raises(lob.LobInputError, match=message):
        lob.learn(logs, **options)


def test_says_what_is_being_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    lob.learn(table_of(clicks()))
    shown = capsys.readouterr().err
    for words in ("adding up rewards", "choosing the number of states", "learning 1 state of"):
        assert words in shown
