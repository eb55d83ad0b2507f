"""From logs to states: what was planted comes back, by either method."""

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binomtest
from tests.learning import naive
from tests.learning.helpers import COLUMNS, in_half

import lobandits as lob
from lobandits.learning.kendall import distances, pair_signs, relation_signs
from lobandits.learning.learn import confident_relations, holm
from lobandits.learning.prior import learn_prior


def relabelled(learned: lob.LatentOrders, planted: lob.LatentOrders) -> bool:
    """Whether both have the same states, perhaps with other numbers."""
    return learned.arms == planted.arms and set(learned) == set(planted)


@pytest.mark.parametrize("centroid", ["mean", "borda"])
def test_enough_ratings_give_the_planted_orders(centroid: Any) -> None:
    ratings = lob.make_ratings(500, 10, 8, ratings_per_user=400, seed=2)
    model = lob.learn_orders(
        ratings.table, **COLUMNS, n_states=8, method="kendall", centroid=centroid
    )
    assert relabelled(model.orders, ratings.orders)
    agree = [
        model.orders[s] == ratings.orders[t]
        for s, t in zip(model.labels, ratings.states, strict=True)
    ]
    assert np.mean(agree) > 0.99
    assert model.sigma == pytest.approx(1.0, rel=0.02)
    assert model.merged == 0


def test_few_ratings_come_near_the_planted_orders_on_new_users() -> None:
    ratings = lob.make_ratings(2000, 10, 8, ratings_per_user=30, seed=3)
    rest, held = in_half(ratings)
    model = lob.learn_orders(rest, n_states=8, method="kendall")
    planted = distances(pair_signs(held.means), relation_signs(ratings.orders.precedes))
    assert model.distances(held).min(axis=1).mean() <= 1.1 * planted.min(axis=1).mean()


def test_state_means_are_averages_of_imputed_means() -> None:
    ratings = lob.make_ratings(120, 6, 3, ratings_per_user=30, missing=0.3, seed=4)
    table = lob.reward_table(ratings.table, **COLUMNS)
    model = lob.learn_orders(table, n_states=3, method="kendall")
    filled = naive.impute(table.means)
    for s in range(model.orders.n_states):
        np.testing.assert_allclose(model.state_means[s], filled[model.labels == s].mean(axis=0))
    assert model.imputed_share == pytest.approx(np.isnan(table.means).mean())
    assert model.sizes.sum() == model.n_users == 120


def test_orders_are_those_of_the_state_means() -> None:
    ratings = lob.make_ratings(300, 8, 5, ratings_per_user=100, seed=5)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=5, method="kendall")
    assert lob.LatentOrders.from_means(model.state_means, model.orders.arms) == model.orders


KENDALL = {"method": "kendall"}


def logs(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {"user": [1, 1, 2, 2, 3], "arm": list("xyxyx"), "reward": [1.0] * 5} | columns
    )


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (logs(), KENDALL | {"n_states": 3}, "n_states is 3, but only 2 of 3 users tried two arms"),
        (logs(), KENDALL, "method='kendall' needs the number of states"),
        (logs(), {"method": "kendal"}, "unknown method 'kendal'; did you mean 'kendall'"),
        (logs(), {"n_states": 4}, "n_states is 4, but there are only 3 users"),
        (logs(), {"n_states": 0}, "n_states must be a whole number"),
        (logs(), {"n_states": 2}, "all rewards are equal"),
        (logs(), {"centroid": "borda"}, "centroid='borda' is an option of the paper's clustering"),
        (logs(), {"n_init": 2}, "give it with method='kendall'"),
        (logs(), {"level": 0.6}, "at least half of a state's users; give at most 0.5"),
        (logs(arm="x"), {}, "1 arm, 'x'"),
        (logs(user=1), {}, "1 user, 1"),
        (logs(), {"relations": "sure"}, "unknown relations 'sure'"),
        (
            logs(),
            {"n_states": 2, "relations": "confident", "level": 1.0},
            "level must lie strictly",
        ),
        (logs(), {"n_states": 2, "seed": -1}, "seed"),
        (logs(), {"n_states": 2, "centroid": "x"}, "unknown centroid 'x'"),
        (logs(), {"n_states": 2, "min_user_rewards": 9}, "min_user_rewards"),
    ],
)
def test_wrong_arguments_are_named(table: Any, options: Any, message: str) -> None:
    with pytest.raises(lob.LobInputError, match=message):
        lob.learn_orders(table, **options)


def test_shows_a_progress_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    lob.learn_orders(logs(), n_states=1, method="kendall", n_init=2, max_iter=5, progress=True)
    shown = capsys.readouterr().err
    assert "adding up rewards" in shown
    assert "100% of 10 iterations" in shown


def test_learned_confident_orders_are_parts_of_the_total_ones() -> None:
    ratings = lob.make_ratings(400, 8, 4, ratings_per_user=40, seed=1)
    total = lob.learn_orders(ratings.table, **COLUMNS, n_states=4, method="kendall")
    partial = lob.learn_orders(
        ratings.table, **COLUMNS, n_states=4, method="kendall", relations="confident"
    )
    np.testing.assert_array_equal(total.labels, partial.labels)
    assert not (partial.orders.precedes & ~total.orders.precedes).any()
    assert not partial.orders.is_total
    assert partial.orders.precedes.sum() > 0.5 * total.orders.precedes.sum()
    stricter = lob.learn_orders(
        ratings.table, **COLUMNS, n_states=4, method="kendall", relations="confident", level=1e-6
    )
    assert not (stricter.orders.precedes & ~partial.orders.precedes).any()


def test_states_without_support_are_merged() -> None:
    ratings = lob.make_ratings(12, 5, 6, ratings_per_user=20, seed=2)
    model = lob.learn_orders(
        ratings.table, **COLUMNS, n_states=6, method="kendall", relations="confident"
    )
    assert model.orders.n_states == 1
    assert (model.merged, model.sizes.tolist()) == (5, [12])
    assert not model.orders.precedes.any()


def test_the_model_of_a_prior_follows_from_it() -> None:
    table, held = in_half(lob.make_ratings(600, 6, 3, ratings_per_user=100, seed=1))
    model, learned = lob.learn_orders(table, n_states=3), learn_prior(table, n_states=3)
    assert model.prior == learned.prior
    assert model.orders == learned.prior.orders
    assert model.curve is None
    assert (model.sigma, model.sigma_from) == (learned.prior.sigma, "cells")
    assert (model.imputed_share, model.merged) == (0.0, 0)
    np.testing.assert_array_equal(model.state_means, learned.prior.means)
    np.testing.assert_array_equal(model.labels, learned.labels)
    np.testing.assert_array_equal(model.sizes, np.bincount(learned.labels, minlength=3))
    np.testing.assert_array_equal(model.predict(table), model.labels)
    chances = learned.prior.posterior(held.counts, held.sums)[0]
    np.testing.assert_array_equal(model.predict(held), chances.argmax(axis=1))


def test_a_prior_finds_the_planted_orders() -> None:
    ratings = lob.make_ratings(500, 10, 8, ratings_per_user=400, seed=2)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=8)
    assert relabelled(model.orders, ratings.orders)


def test_the_evidence_chooses_the_number_of_states() -> None:
    table = lob.reward_table(lob.make_ratings(150, 5, 2, seed=3).table, **COLUMNS)
    model = lob.learn_orders(table)
    assert model.curve is not None
    assert model.orders.n_states == model.curve.chosen >= 2
    assert "states beat one on held-out users" in model.curve.verdict


def test_noise_has_one_state() -> None:
    rng = np.random.default_rng(0)
    noise = {"user": np.repeat(np.arange(150), 12), "arm": np.tile(list("abcd"), 450)}
    model = lob.learn_orders(pl.DataFrame(noise | {"reward": rng.standard_normal(1800)}))
    assert model.orders.n_states == 1
    assert model.curve is not None
    assert "no types of users" in model.curve.verdict


def test_states_that_differ_in_numbers_only_stay_apart() -> None:
    """Filters make warnings errors, so this also tells that nothing warns."""
    rng = np.random.default_rng(0)
    means = np.where(np.arange(200)[:, None] % 2, [3.0, 2.0, 1.0], [9.0, 4.0, 0.0])
    values = np.repeat(means[:, None], 20, axis=1) + 0.1 * rng.standard_normal((200, 20, 3))
    users = np.repeat(np.arange(200), 60)
    rows = {"user": users, "arm": np.tile(list("abc"), 4000), "reward": values.ravel()}
    model = lob.learn_orders(pl.DataFrame(rows), n_states=2)
    assert model.orders[0] == model.orders[1]
    assert model.sizes.tolist() == [100, 100]
    lob.LobTS(model.orders, model.sigma)


def test_confident_relations_of_a_prior_hold_for_most_users() -> None:
    table = lob.reward_table(lob.make_ratings(200, 6, 3, seed=1).table, **COLUMNS)
    model = lob.learn_orders(table, n_states=1, relations="confident", level=0.2)
    assert model.prior is not None
    assert model.orders == model.prior.sure_orders(0.8)
    assert not model.orders.is_total
    assert not (model.orders.precedes & ~model.prior.orders.precedes).any()


def naive_relations(means: Any, ranking: list[int], level: float) -> set[tuple[int, int]]:
    """Test every pair of one state by scipy, smallest p first, then add what follows."""
    tests = []
    for above, below in combinations(ranking, 2):
        signs = [np.sign(row[above] - row[below]) for row in means]
        wins, losses = signs.count(1.0), signs.count(-1.0)
        trials = wins + losses
        p = binomtest(wins, trials, alternative="greater").pvalue if trials else 1.0
        tests.append((p, above, below))
    kept: set[tuple[int, int]] = set()
    for i, (p, above, below) in enumerate(sorted(tests)):
        if p > level / (len(tests) - i):
            break
        kept.add((above, below))
    while more := {(a, d) for a, b in kept for c, d in kept if b == c} - kept:
        kept |= more
    return kept


@pytest.mark.parametrize("seed", range(6))
def test_relations_equal_their_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rankings = [rng.permutation(5) for _ in range(2)]
    labels = rng.integers(2, size=80)
    means = (4 - np.argsort(rankings, axis=1))[labels] + rng.normal(0, 3, (80, 5))
    means = means.round(0)
    means[rng.random(means.shape) < 0.2] = np.nan
    orders = lob.LatentOrders.from_rankings([r.tolist() for r in rankings])
    kept = confident_relations(means, labels, orders.precedes, 0.05)
    for s in (0, 1):
        expected = naive_relations(means[labels == s], rankings[s].tolist(), 0.05)
        assert {(int(a), int(b)) for a, b in np.argwhere(kept[s])} == expected
    assert 0 < kept.sum() < orders.precedes.sum()


@given(
    hnp.arrays(np.float64, (12, 4), elements=st.sampled_from([1.0, 2.0, 3.0, np.nan])),
    st.floats(0.001, 0.9),
)
def test_relations_are_a_closed_part_of_the_order(means: Any, level: float) -> None:
    orders = lob.LatentOrders.from_rankings([[2, 0, 1, 3]])
    kept = confident_relations(means, np.zeros(12, dtype=np.int64), orders.precedes, level)
    assert not (kept & ~orders.precedes).any()
    np.testing.assert_array_equal(lob.LatentOrders(kept).precedes, kept)


def test_holm_stops_at_the_first_that_holds() -> None:
    p = np.array([0.001, 0.2, 0.02, 0.013])
    assert holm(p, 0.05).tolist() == [True, False, True, True]
    assert holm(np.array([0.03, 0.04]), 0.05).tolist() == [False, False]


def test_members_who_agree_give_the_total_order_and_noise_gives_none() -> None:
    rng = np.random.default_rng(0)
    orders = lob.LatentOrders.from_rankings([[0, 1, 2, 3]])
    everyone = np.zeros(60, dtype=np.int64)
    clear = np.arange(4.0)[::-1] + rng.normal(0, 0.05, (60, 4))
    np.testing.assert_array_equal(
        confident_relations(clear, everyone, orders.precedes, 0.05), orders.precedes
    )
    false = [
        confident_relations(rng.normal(size=(60, 4)), everyone, orders.precedes, 0.05).any()
        for _ in range(400)
    ]
    assert np.mean(false) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)
