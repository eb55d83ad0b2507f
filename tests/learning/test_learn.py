from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binomtest
from tests.learning import naive

import lobandits as lob
from lobandits.learning.kendall import distances, pair_signs, relation_signs
from lobandits.learning.learn import confident_relations, holm

COLUMNS: Any = {"user": "userId", "arm": "genre", "reward": "rating"}


def relabelled(learned: lob.LatentOrders, planted: lob.LatentOrders) -> bool:
    """Whether both have the same states, perhaps with other numbers."""
    return learned.arms == planted.arms and set(learned) == set(planted)


def in_half(ratings: lob.GeneratedRatings) -> tuple[lob.RewardTable, lob.RewardTable]:
    table = lob.reward_table(ratings.table, **COLUMNS)
    half = np.arange(table.n_users) % 2 == 0
    return table.take(half), table.take(~half)


@pytest.mark.parametrize("centroid", ["mean", "borda"])
def test_enough_ratings_give_the_planted_orders(centroid: Any) -> None:
    ratings = lob.make_ratings(500, 10, 8, ratings_per_user=400, seed=2)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=8, centroid=centroid)
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
    model = lob.learn_orders(rest, n_states=8)
    planted = distances(pair_signs(held.means), relation_signs(ratings.orders.precedes))
    assert model.distances(held).min(axis=1).mean() <= 1.1 * planted.min(axis=1).mean()


def test_state_means_are_averages_of_imputed_means() -> None:
    ratings = lob.make_ratings(120, 6, 3, ratings_per_user=30, missing=0.3, seed=4)
    table = lob.reward_table(ratings.table, **COLUMNS)
    model = lob.learn_orders(table, n_states=3)
    filled = naive.impute(table.means)
    for s in range(model.orders.n_states):
        np.testing.assert_allclose(model.state_means[s], filled[model.labels == s].mean(axis=0))
    assert model.imputed_share == pytest.approx(np.isnan(table.means).mean())
    assert model.sizes.sum() == model.n_users == 120


def test_orders_are_those_of_the_state_means() -> None:
    ratings = lob.make_ratings(300, 8, 5, ratings_per_user=100, seed=5)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=5)
    assert lob.LatentOrders.from_means(model.state_means, model.orders.arms) == model.orders


def test_new_users_get_the_nearest_order() -> None:
    rest, held = in_half(lob.make_ratings(400, 7, 4, ratings_per_user=200, seed=6))
    model = lob.learn_orders(rest, n_states=4)
    labels = model.predict(held)
    rankings = np.array([order.ranking for order in model.orders])
    assert labels.tolist() == naive.assign(held.means, rankings)
    np.testing.assert_array_equal(model.predict(held.means), labels)
    np.testing.assert_array_equal(model.predict(rest), model.labels)
    np.testing.assert_array_equal(model.distances(held).argmin(axis=1), labels)


def test_arms_are_matched_by_name() -> None:
    ratings = lob.make_ratings(200, 5, 3, ratings_per_user=200, missing=0.0, seed=7)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=3)
    first, *_, last = model.orders.arms
    logs = pl.DataFrame({"userId": ["new", "new"], "genre": [last, first], "rating": [5.0, 1.0]})
    state = int(model.predict(logs, **COLUMNS)[0])
    means = np.full((1, 5), np.nan)
    means[0, [0, -1]] = 1.0, 5.0
    assert model.predict(means).tolist() == [state]
    with pytest.raises(lob.LobInputError, match="column 'genre': unknown arm 'Drame'"):
        model.predict(logs.with_columns(genre=pl.lit("Drame")), **COLUMNS)


def test_new_users_from_files(tmp_path: Path) -> None:
    ratings = lob.make_ratings(60, 5, 3, seed=7)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=3)
    files = [str(ratings.write(tmp_path / "a.parquet"))]
    for logs in (files, files[0], tmp_path):
        np.testing.assert_array_equal(model.predict(logs, **COLUMNS), model.labels)


def test_who_tried_one_arm_gets_the_largest_state() -> None:
    model = lob.learn_orders(lob.make_ratings(200, 5, 3, seed=8).table, **COLUMNS, n_states=3)
    lone = np.full((2, 5), np.nan)
    lone[1, 2] = 3.0
    assert (model.predict(lone) == model.sizes.argmax()).all()


@pytest.mark.parametrize(
    ("means", "message"),
    [
        (np.zeros((2, 4)), r"means must have shape \(n_users, 5\), got \(2, 4\)"),
        (np.zeros(5), r"got \(5,\)"),
        ([[1.0, 2.0, np.inf, 1.0, 2.0]], r"means\[0, 2\] is inf"),
        ([["a", "b", "c", "d", "e"]], "means must be an array of numbers"),
    ],
)
def test_wrong_means_are_named(means: Any, message: str) -> None:
    model = lob.learn_orders(lob.make_ratings(50, 5, 2, seed=9).table, **COLUMNS, n_states=2)
    with pytest.raises(lob.LobInputError, match=message):
        model.predict(means)


def logs(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {"user": [1, 1, 2, 2, 3], "arm": list("xyxyx"), "reward": [1.0] * 5} | columns
    )


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (logs(), {"n_states": 3}, "n_states is 3, but only 2 of 3 users tried two arms"),
        (logs(), {"n_states": 0}, "n_states must be a whole number"),
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
    lob.learn_orders(logs(), n_states=1, n_init=2, max_iter=5, progress=True)
    shown = capsys.readouterr().err
    assert "adding up rewards" in shown
    assert "100% of 10 iterations" in shown


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


def test_learned_confident_orders_are_parts_of_the_total_ones() -> None:
    ratings = lob.make_ratings(400, 8, 4, ratings_per_user=40, seed=1)
    total = lob.learn_orders(ratings.table, **COLUMNS, n_states=4)
    partial = lob.learn_orders(ratings.table, **COLUMNS, n_states=4, relations="confident")
    np.testing.assert_array_equal(total.labels, partial.labels)
    assert not (partial.orders.precedes & ~total.orders.precedes).any()
    assert not partial.orders.is_total
    assert partial.orders.precedes.sum() > 0.5 * total.orders.precedes.sum()
    stricter = lob.learn_orders(
        ratings.table, **COLUMNS, n_states=4, relations="confident", level=1e-6
    )
    assert not (stricter.orders.precedes & ~partial.orders.precedes).any()


def test_states_without_support_are_merged() -> None:
    ratings = lob.make_ratings(12, 5, 6, ratings_per_user=20, seed=2)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=6, relations="confident")
    assert model.orders.n_states == 1
    assert (model.merged, model.sizes.tolist()) == (5, [12])
    assert not model.orders.precedes.any()


SIGMA, GAP, N_ARMS, N_USERS = 1.0, 0.5, 5, 60


def rewards_of_everybody(n: int, seed: int) -> tuple[lob.RewardTable, lob.LatentOrders, Any]:
    """Return n rewards of every arm from every user, whose means are at least the gap apart."""
    rng = np.random.default_rng(seed)
    orders = lob.LatentOrders.from_rankings([[4, 2, 0, 1, 3], [0, 1, 2, 3, 4], [3, 2, 4, 1, 0]])
    states = rng.integers(3, size=N_USERS)
    steps = GAP * rng.uniform(1, 1.5, (N_USERS, N_ARMS)).cumsum(axis=1)[:, ::-1]
    means = np.empty_like(steps)
    np.put_along_axis(means, np.array([orders[s].ranking for s in states]), steps, axis=1)
    rewards = rng.normal(means[..., None], SIGMA, (N_USERS, N_ARMS, n))
    counts = np.full(means.shape, n)
    squares = (rewards**2).sum(axis=2)
    users = np.arange(N_USERS)
    return lob.RewardTable(users, orders.arms, counts, rewards.sum(axis=2), squares), orders, states


def test_enough_rewards_give_exactly_the_planted_orders() -> None:
    enough = lob.samples_for_exact_orders(SIGMA, GAP, N_ARMS, N_USERS, delta=0.01)
    data, orders, states = rewards_of_everybody(enough, seed=0)
    model = lob.exact_orders(data, min_rewards=enough)
    assert set(model.orders) == set(orders)
    assert all(model.orders[s] == orders[t] for s, t in zip(model.labels, states, strict=True))
    assert (np.diff(model.sizes) <= 0).all()
    assert model.sigma == pytest.approx(SIGMA, rel=0.02)
    assert (model.merged, model.imputed_share) == (0, 0.0)


def test_far_fewer_do_not() -> None:
    enough = lob.samples_for_exact_orders(SIGMA, GAP, N_ARMS, N_USERS, delta=0.01)
    data, orders, _ = rewards_of_everybody(enough // 50, seed=0)
    assert lob.exact_orders(data).orders.n_states > 3 * orders.n_states


LOGS = {"user": [1, 1, 1, 2, 2], "arm": list("xxyxy"), "reward": [1.0, 2.0, 3.0, 1.0, 2.0]}


@pytest.mark.parametrize(
    ("change", "least", "message"),
    [
        ({}, 2, "user 1 has 1 from 'y'; user 2 has 1 from 'x'; user 2 has 1 from 'y'"),
        ({"arm": list("xxyxx")}, None, "at least 1 reward from .* but user 2 has 0 from 'y'"),
        ({"reward": [1.0, 2.0, 1.5, 1.0, 2.0]}, None, "means of two arms are equal.* user 1"),
        ({}, 0, "min_rewards must be a whole number of at least 1"),
    ],
)
def test_refuses_what_leaves_an_order_open(change: Any, least: Any, message: str) -> None:
    with pytest.raises(lob.LobInputError, match=message):
        lob.exact_orders(pl.DataFrame(LOGS | change), min_rewards=least)


def test_counts_the_cells_that_it_does_not_show() -> None:
    data, _, _ = rewards_of_everybody(3, seed=1)
    with pytest.raises(lob.LobInputError, match="and 297 more"):
        lob.exact_orders(data, min_rewards=4)
