"""From logs to a verdict: structure is used, noise is not, and the seed decides all."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lobandits as lob
from lobandits.evaluation.evaluate import is_binary
from lobandits.evaluation.report_page import evaluation_page

POLICIES = ["popular", "ts", "lobbayes"]
SMALL: dict[str, Any] = {"n_states": 2, "horizon": 10, "splits": 2, "players": 24, "workers": 2}


def shop(n: int, seed: int, levels: list[list[float]]) -> pl.DataFrame:
    """Return clicks of users of some tastes, a third of whom left few."""
    rng = np.random.default_rng(seed)
    chances = np.array(levels)[rng.integers(len(levels), size=n)]
    sizes = np.where(rng.random(n) < 1 / 3, rng.integers(1, 6, n), 30)
    users = np.repeat(np.arange(n), sizes)
    arms = rng.integers(len(levels[0]), size=len(users))
    clicks = rng.random(len(users)) < chances[users, arms]
    names = np.array(["tea", "milk", "juice", "water"])[arms]
    logs = pl.DataFrame({"user": users, "arm": names, "reward": clicks.astype(int)})
    return logs.sample(fraction=1, shuffle=True, seed=seed)


TASTES = [[0.8, 0.1, 0.2, 0.1], [0.1, 0.2, 0.1, 0.8]]


@pytest.fixture(scope="module")
def report() -> lob.Evaluation:
    """Return the evaluation of a shop with two tastes."""
    return lob.evaluate(shop(240, 0, TASTES), POLICIES, **SMALL)


def test_structure_is_worth_using(report: lob.Evaluation) -> None:
    assert report.kind == "use"
    assert report.verdict.startswith("Use lobbayes: it earns +")
    assert "% reward over" in report.verdict
    assert "over logs" in report.verdict
    assert report.policies == (*POLICIES, "logs")
    assert report.rivals == ("popular", "ts", "logs")
    gain = report.gain("lobbayes", "popular")
    assert 0 < gain.low < gain.mean < gain.high
    true = 10 * (0.8 - 0.45)  # at most, of an arm that is the best from the first decision on
    assert gain.mean < true + 0.5
    assert report.gain("ts", "ts").mean == 0


def test_summary_figure_and_page(report: lob.Evaluation, tmp_path: Path) -> None:
    table = report.summary()
    assert len(table.rows) == len(report.points) * 4
    assert min(row["regret"] for row in table.rows) >= 0
    text = str(report)
    assert text.endswith(report.verdict)
    assert "from the logs alone (queues)" in text
    assert len(report.plot().axes) == 2
    page = report.save_html(tmp_path / "report.html").read_text()
    assert "<svg" in page
    assert report.verdict.split(":")[0] in page
    assert not any(word in page for word in ("http://cdn", "https://cdn", "<script", "src="))


@pytest.mark.parametrize("clear", [False, True])
def test_numbers_of_the_page_are_those_of_the_table(report: lob.Evaluation, clear: bool) -> None:
    found = replace(report, evidence=np.array([1.0, 1.1] if clear else [1.0, -1.0]))
    assert (found.standing == slice(1, None)) == clear
    page = re.findall(r"<tr>(<td>.*?)</tr>", evaluation_page(found))
    rows = found.summary().rows
    earned = {(row["decisions"], row["policy"]): row["reward"] for row in rows}
    for line, row in zip(page, rows, strict=False):  # the facts come last
        name, *numbers = re.findall(r"[^<>() ]+", re.sub(r"</?td>| to ", " ", line))
        columns = ("reward", "regret", "gain", "low", "high", "over logs", "low ", "high ")
        assert name == row["policy"]
        assert list(map(float, numbers)) == pytest.approx([row[c] for c in columns], rel=6e-3)
        gain = row["reward"] - earned[row["decisions"], row["over"]]
        assert row["gain"] == pytest.approx(gain)


def test_numbers_depend_on_the_seed_alone() -> None:
    few: dict[str, Any] = {"logs": shop(60, 0, TASTES), "policies": POLICIES} | SMALL
    found, again, other = (
        str(lob.evaluate(**few | {"players": 8} | change))
        for change in ({"workers": 2}, {"workers": 1}, {"seed": 1})
    )
    assert again == found
    assert other != found


def test_noise_is_not_worth_using() -> None:
    found = lob.evaluate(shop(240, 5, [[0.3] * 4]), POLICIES, **SMALL)
    assert found.kind != "use"
    assert found.verdict.startswith(("It makes no difference", "Not enough data to tell"))


def test_queues_tell_what_balanced_logs_support() -> None:
    logs = shop(240, 0, TASTES)
    found = lob.evaluate(logs, ["popular", "lobbayes"], **SMALL | {"horizon": 5, "players": 8})
    gain = found.replays.gain("lobbayes", "popular", 5)
    assert not isinstance(gain, str)
    assert gain.low < gain.high
    reached, n = found.replays.reached("popular", 5)
    assert 30 < reached <= n < 240


def test_numbers_and_tables_are_judged_too() -> None:
    ratings = lob.make_ratings(n_users=120, n_arms=4, n_states=2, ratings_per_user=20, seed=1)
    columns: dict[str, Any] = {"user": "userId", "arm": "genre", "reward": "rating"}
    logs = lob.evaluate(ratings.table, POLICIES, **columns, **SMALL)
    assert not logs.binary
    assert "rating over" in logs.verdict
    table = lob.reward_table(ratings.table, **columns)
    sums = lob.evaluate(table, POLICIES, **SMALL)
    assert "give the logs themselves" in str(sums)
    assert not is_binary(table)


def test_horizon_follows_the_logs() -> None:
    found = lob.evaluate(shop(60, 0, TASTES), POLICIES, n_states=2, splits=2, players=8)
    assert found.typical <= 30
    assert found.points == tuple(sorted({5, 10, 20, found.typical, 30}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda logs: {"logs": logs.filter(pl.col("user") < 9)}, "at least 12 users"),
        (lambda logs: {"policies": ["ts"]}, "two policies or more"),
        (lambda logs: {"policies": ["ts", "tss"]}, "did you mean"),
        (lambda logs: {"policies": ["ts", lob.UCB(4, 1.0)]}, "policies are names"),
        (lambda logs: {"splits": 1}, "splits must be"),
    ],
)
def test_refusals(change: Callable[[pl.DataFrame], dict[str, Any]], message: str) -> None:
    logs = shop(60, 0, TASTES)
    with pytest.raises(lob.LobInputError, match=message):
        lob.evaluate(**{"logs": logs, "policies": POLICIES, **SMALL} | change(logs))


def test_rounds_that_were_not_compared(report: lob.Evaluation) -> None:
    with pytest.raises(lob.LobInputError, match="policies are compared after 5, 10"):
        report.gain("ts", "popular", 7)


def test_arms_that_few_tried_are_left_out() -> None:
    rare = pl.DataFrame({"user": [0], "arm": ["caviar"], "reward": [1]})
    logs = pl.concat([shop(60, 0, TASTES), rare], how="vertical_relaxed")
    found = lob.evaluate(logs, POLICIES, **SMALL | {"players": 8})
    assert "caviar" in str(found)
    assert found.models[0].orders.n_arms == 4


def test_of_many_arms_policies_on_orders_are_left_out() -> None:
    ratings = lob.make_ratings(60, 120, 2, ratings_per_user=150, missing=0.0, seed=0)
    columns = {"user": "userId", "arm": "genre", "reward": "rating"}
    options: Any = {"horizon": 3, "splits": 2, "players": 2, "n_states": 1} | columns
    found = lob.evaluate(ratings.table, **options)
    assert set(found.rewards) == {"popular", "ts", "mixts", "lobbayes", "logs"}
    assert any("lobts and lobids were left out" in note for note in found.notes)
    assert "no types of users were found: one state" in str(found)
