"""Round the loop: decide, export or not, learn, serve what was learned, decide again."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import lobandits as lob
from lobandits.cli.app import app
from lobandits.learning import RewardTable
from lobandits.service import open_store
from lobandits.service.reports.rewards import stored_rewards

ARMS = ("tea", "milk", "juice")
TASTES = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 3.0]])
USERS, ROUNDS, WAITING = 60, 12, 5


def run(*words: str) -> str:
    """Return what a command printed, after it succeeded."""
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def used(store_url: str) -> str:
    """Return a store whose users of two tastes were asked and answered; some did not."""
    rng = np.random.default_rng(0)
    with lob.DecisionService(lob.TS(3, 1.0, arms=ARMS), store_url, seed=0) as service:
        for _ in range(ROUNDS):
            decisions = service.decide_many([f"u{i}" for i in range(USERS)])
            tastes = [TASTES[i % 2, ARMS.index(d.arm)] for i, d in enumerate(decisions)]
            rewards = tastes + 0.5 * rng.standard_normal(USERS)
            told = list(zip((d.id for d in decisions), rewards.tolist(), strict=True))
            service.record_many(told)
        service.decide_many([f"u{i}" for i in range(WAITING)])
    return store_url


def by_file(store: str, folder: Path) -> RewardTable:
    """Return the table of an exported file."""
    path = folder / "log.csv"
    rows = USERS * ROUNDS + WAITING
    assert run("export", "--store", store, "--out", str(path)) == f"{rows} rows saved to {path}\n"
    assert pl.read_csv(path).height == rows
    return lob.reward_table(str(path), skip_empty=True)


def test_the_store_teaches_what_its_export_does(used: str, tmp_path: Path) -> None:
    store = open_store(used)
    found, expected = stored_rewards(store), by_file(used, tmp_path)
    assert found.users.tolist() == expected.users.tolist()
    assert found.arms == expected.arms
    assert found.skipped == expected.skipped == WAITING
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_allclose(found.sums, expected.sums, rtol=1e-12)
    np.testing.assert_allclose(found.squares, expected.squares, rtol=1e-12)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert stored_rewards(store, tomorrow - timedelta(days=2)).n_rewards == USERS * ROUNDS
    with pytest.raises(lob.LobInputError, match="has no rewards since"):
        stored_rewards(store, tomorrow)
    store.close()


def test_round_the_loop(used: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    steps = {
        "from the store": ("learn", "--store", used, "--out", "store.json"),
        "from a file": ("learn", "log.csv", "--skip-empty", "--out", "file.json"),
    }
    by_file(used, tmp_path)
    for words in steps.values():
        said = run(*words)
        assert "Structure worth using" in said
        assert f"{WAITING}, skipped" in said
    models = [lob.Model.load(name) for name in ("store.json", "file.json")]
    assert {str(order) for order in models[0].orders} == {str(order) for order in models[1].orders}
    judged = ("--policies", "popular,ts,lobbayes", "--states", "2", "--horizon", "6")
    for logs in (("--store", used), ("log.csv", "--skip-empty", "--propensity", "probability")):
        said = run("evaluate", *logs, *judged)
        assert "from the logs alone (rejection)" in said
        assert said.splitlines()[-1].startswith("Use lobbayes: it earns +")
    run("model", "put", "--model", "store.json", "--policy", "lobbayes", "--store", used)
    grow = ("model", "add-arm", "water", "--like", "milk", "--model", "store.json")
    run(*grow, "--out", "grown.json")
    run("model", "put", "--model", "grown.json", "--policy", "lobbayes", "--store", used)
    assert "arms: juice, milk, tea, water" in run("model", "show", "--store", used)
    with lob.DecisionService(None, used, seed=1) as service:
        assert service.decide("somebody").arm in (*ARMS, "water")


def test_nothing_to_learn_from(store_url: str) -> None:
    lob.DecisionService(lob.UCB(2, 1.0), store_url).close()
    done = CliRunner().invoke(app, ["learn", "--store", store_url])
    assert done.exit_code == 2
    assert "has no rewards, and 0 decisions without one; report rewards first" in done.stderr
