"""New and rare arms start where arms' features say; contexts borrow from arm and context."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.learning.planted import world

import lobandits as lob
from lobandits.basics.checks import FloatArray
from lobandits.learning.arm_effects import fit_target, read_arm_features
from lobandits.learning.fit_prior import fit_prior

K = 24
KIND = ["drama", "comedy", "news"] * 8
PRICE = np.linspace(1, 9, K).tolist()
FEATURES = {str(a): {"kind": KIND[a], "price": PRICE[a]} for a in range(K)}


def means_of(kind: str, price: float) -> float:
    return {"drama": 1.5, "comedy": 0.0, "news": -1.5}[kind] - 0.3 * (price - 5)


def logs(n: int = 150, plays: int = 20, seed: int = 0, noise: float = 0.3) -> pl.DataFrame:
    """Ratings of arms whose means follow from their features but for a little."""
    rng = np.random.default_rng(seed)
    base = np.array([means_of(KIND[a], PRICE[a]) for a in range(K)]) + noise * rng.normal(size=K)
    user, arm = np.repeat(np.arange(n), plays), rng.integers(K, size=n * plays)
    shift = rng.normal(size=n)[user]
    reward = (
        base[arm] + shift + 0.5 * rng.normal(size=(n, K))[user, arm] + rng.normal(size=n * plays)
    )
    return pl.DataFrame({"user": user, "arm": [str(a) for a in arm], "reward": reward})


def test_a_new_arm_starts_where_its_features_say() -> None:
    model = lob.learn(logs(), n_states=1, arm_features=FEATURES, progress=False)
    effects = model.prior.arm_features
    assert effects is not None
    shares = effects.shares()
    assert shares["kind"] > shares["price"] > 0.05
    assert sum(shares.values()) > 0.8
    centre = model.prior.means.mean()
    expected = np.mean([means_of(KIND[a], PRICE[a]) for a in range(K)])
    for kind, price in (("drama", 2.0), ("news", 8.0)):
        grown = model.with_arm("new", features={"kind": kind, "price": price}).prior
        assert grown.means[0, -1] - centre == pytest.approx(
            means_of(kind, price) - expected, abs=0.5
        )
        assert grown.own[-1] < model.with_arm("new").prior.own[-1]
    again = lob.Prior.from_dict(json.loads(json.dumps(model.prior.to_dict())))
    assert again == model.prior


def test_rare_arms_shrink_to_what_their_features_say() -> None:
    few = pl.int_range(pl.len()).over("arm") < 3
    rare = logs(seed=3).filter(few | (pl.col("arm").cast(pl.Int64) >= 9))
    with_them = lob.learn(rare, n_states=1, arm_features=FEATURES).prior
    without = lob.learn(rare, n_states=1).prior
    truth = np.array([means_of(KIND[int(a)], PRICE[int(a)]) for a in without.arms])
    at = [a for a, name in enumerate(without.arms) if int(name) < 9]

    def error(prior: lob.Prior) -> float:
        away = prior.means[0] - truth
        return float(((away - away.mean())[at] ** 2).mean())

    assert error(with_them) < 0.6 * error(without)


def test_features_of_arms_that_tell_nothing_change_nothing() -> None:
    w = world(150, 10, 1, 0.0, seed=2)
    rng = np.random.default_rng(5)
    table = {arm: {"size": float(rng.normal())} for arm in w.table.arms}
    known = read_arm_features(w.table.arms, table)
    assert known is not None
    prior = fit_prior(w.table, "gaussian", 1, arm_features=known).prior
    assert prior.arm_features is not None
    assert not prior.arm_features.effects[0].any()
    assert prior._with(arm_features=None) == fit_prior(w.table, "gaussian", 1).prior


def test_a_target_is_found_with_its_strength_and_noise_has_none() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal((60, 3))
    target = 2.0 + y @ [1.0, 0.0, -0.5] + 0.3 * rng.standard_normal(60)
    fit = fit_target(target, np.full(60, 0.01), y)
    np.testing.assert_allclose([fit.average, *fit.effects], [2, 1, 0, -0.5], atol=0.2)
    assert 0.03 < fit.left < 0.3
    silent = [
        fit_target(rng.standard_normal(30), np.full(30, 0.1), rng.standard_normal((30, 4)))
        for _ in range(100)
    ]
    assert sum(not one.effects.any() for one in silent) >= 95


def in_contexts(differ: float, seed: int = 0) -> tuple[pl.DataFrame, FloatArray]:
    """Clicks of 8 segments on 10 products, whose log odds are the sum of both, and what differs."""
    rng = np.random.default_rng(seed)
    eta = -2.0 + rng.normal(0, 0.6, 10) + rng.normal(0, 0.6, (8, 1))
    eta = eta + differ * rng.normal(size=(8, 10))
    n, plays = 600, 8
    segment, user = np.repeat(rng.integers(8, size=n), plays), np.repeat(np.arange(n), plays)
    arm = rng.integers(10, size=n * plays)
    rate = 1 / (1 + np.exp(-(eta[segment, arm] + rng.normal(0, 0.4, n)[user])))
    rows = {
        "user": user, "segment": [f"s{s}" for s in segment], "arm": [f"p{a}" for a in arm],
        "reward": (rng.random(n * plays) < rate).astype(int),
    }  # fmt: skip
    return pl.DataFrame(rows), eta


def test_contexts_borrow_from_arm_and_context() -> None:
    rows, eta = in_contexts(0.1)
    model = lob.learn(rows, context="segment", n_states=1)
    effects = model.prior.arm_features
    assert effects is not None
    assert set(effects.features.names) == {"context", "arm"}
    table = lob.reward_table(rows, context="segment")
    plain = fit_prior(table, "bernoulli", 1).prior
    place = [(int(c[1:]), int(a[1:])) for c, a in (name.split(": ") for name in model.arms)]
    truth = np.array([eta[s, a] for s, a in place])

    def error(prior: lob.Prior) -> float:
        away = prior.means[0] - truth
        return float(((away - away.mean()) ** 2).mean())

    assert error(model.prior) < 0.6 * error(plain)
    grown = model.with_arm("s9: p3").prior  # a new segment: what p3 is elsewhere
    others = [a for a, (_, product) in enumerate(place) if product == 3]
    centre = model.prior.means[0].mean()
    away = grown.means[0, -1] - centre
    assert away == pytest.approx(model.prior.means[0, others].mean() - centre, abs=0.3)


def test_a_new_arm_without_anything_beats_the_best_with_a_chance_of_epsilon() -> None:
    prior = fit_prior(world(200, 6, 1, 0.0, seed=1).table, "gaussian", 1).prior
    rng = np.random.default_rng(0)
    for epsilon in (0.05, 0.3):
        grown = prior.with_arm("new", epsilon=epsilon)
        mean, sd = grown.means[0, -1], np.sqrt(grown.own[-1])
        beats = mean + sd * rng.standard_normal(100_000) > prior.means[0].max()
        assert beats.mean() == pytest.approx(epsilon, abs=0.006)


def test_wrong_features_of_arms_are_named(tmp_path: Path) -> None:
    model = lob.learn(logs(60), n_states=1, arm_features=FEATURES)
    with pytest.raises(lob.LobInputError, match=r"unknown feature 'prise'; did you mean 'price'"):
        model.with_arm("new", features={"prise": 3})
    with pytest.raises(lob.LobInputError, match="is like '0' and has features"):
        model.with_arm("new", like="0", features={"price": 3})
    with pytest.raises(lob.LobInputError, match="knows none of arms"):
        lob.learn(logs(60), n_states=1).with_arm("new", features={"price": 3})
    with pytest.raises(lob.LobInputError, match="epsilon must lie between 0 and 1"):
        lob.learn(logs(60), n_states=1).with_arm("new", epsilon=0.0)
    wrong: list[tuple[Any, str]] = [
        ({"other": {"price": 3}}, "has none of the arms"),
        (pl.DataFrame({"name": ["0"], "price": [3]}), "has no column 'arm'"),
    ]
    for table, message in wrong:
        with pytest.raises(lob.LobInputError, match=message):
            lob.learn(logs(60), n_states=1, arm_features=table)
    rows = pl.DataFrame({"arm": [str(a) for a in range(K)], "kind": KIND, "price": PRICE})
    rows.write_csv(tmp_path / "arms.csv")
    for table in (rows, str(tmp_path / "arms.csv")):
        assert lob.learn(logs(60), n_states=1, arm_features=table).prior == model.prior
