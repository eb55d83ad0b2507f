"""The commands of the service."""

import json
import socket
import sqlite3
from pathlib import Path

import polars as pl
import pytest
from tests.service.http.running import ARMS, write_orders
from typer.testing import CliRunner

import lobandits as lob
from lobandits.cli import options
from lobandits.cli.app import app
from lobandits.service import open_store

RUNNER = CliRunner()


def lines(*words: str) -> list[str]:
    """Return what a command printed, after it succeeded."""
    result = RUNNER.invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def refused(*words: str) -> str:
    """Return the one line with which a command refused."""
    result = RUNNER.invoke(app, list(words))
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'lob.db'}"


def test_model(tmp_path: Path, store: str) -> None:
    orders = str(write_orders(tmp_path))
    assert "there is no store at" in refused("model", "show", "--store", store)
    open_store(store).close()
    assert "the store has no model yet" in refused("model", "show", "--store", store)
    (line,) = lines("model", "put", "--orders", orders, "--store", store, "--sigma", "2")
    assert line.startswith("model 1-")
    assert "LobTS" in line
    assert lines("model", "put", "--orders", orders, "--store", store, "--sigma", "2") == [line]
    shown = lines("model", "show", "--store", store)
    assert shown[:2] == [line, f"arms: {', '.join(ARMS)}"]
    (other,) = lines("model", "put", "--orders", orders, "--store", store, "--policy", "ucb")
    assert other.startswith("model 2-")
    assert lines("model", "show", "--store", store)[0] == other


def test_a_half_life_is_kept_with_the_model(tmp_path: Path, store: str) -> None:
    put = ("model", "put", "--orders", str(write_orders(tmp_path)), "--store", store)
    (line,) = lines(*put, "--half-life", "30d")
    assert "half_life=2592000.0" in line
    with lob.DecisionService(None, store) as served:
        assert served.policy.half_life == 30 * 86400
        served.record(served.decide("ada").id, 1.0)
        assert served.user("ada")["recent"] == pytest.approx(1.0, rel=1e-3)
    assert "half_life" not in lines(*put)[0]
    assert "a span of time such as 12h" in refused(*put, "--half-life", "soon")
    assert "is kept with a model" in refused("serve", "--store", store, "--half-life", "30d")


def test_going_back(tmp_path: Path, store: str) -> None:
    """From a model that cannot be read, too: the one before it decides; its log is kept."""
    assert "there is no store at" in refused("model", "rollback", "--store", store)
    orders = str(write_orders(tmp_path))
    (first,) = lines("model", "put", "--orders", orders, "--store", store)
    assert "has no earlier model that can be read" in refused("model", "rollback", "--store", store)
    lines("model", "put", "--orders", orders, "--store", store, "--policy", "ucb")
    with lob.DecisionService(None, store) as served:
        name = served.decide("ada").model
    with sqlite3.connect(tmp_path / "lob.db") as connection:
        connection.execute("""UPDATE models SET policy = '{"policy": "new"}' WHERE version = 2""")
    connection.close()
    assert lines("model", "show", "--store", store)[0] == first
    listed = lines("model", "list", "--store", store)
    assert [line.split()[0] for line in listed] == [name, first.split()[1].rstrip(":")]
    assert "unreadable" in listed[0]
    assert f"model {name} of {store} cannot be read: unknown policy 'new'" in listed[0]
    assert " decides " in listed[1]
    log = tmp_path / "log.ndjson"
    lines("export", "--store", store, "--out", str(log))
    assert json.loads(log.read_text())["model"] == name
    assert lines("model", "rollback", "--store", store) == [first]
    assert " withdrawn " in lines("model", "list", "--store", store)[0]
    assert lines("model", "show", "--store", store)[0] == first


def test_policies_that_need_means(tmp_path: Path, store: str) -> None:
    orders = write_orders(tmp_path)
    put = ("model", "put", "--store", store, "--orders", str(orders), "--policy")
    assert "mts needs every state's means" in refused(*put, "mts")
    (line,) = lines(*put, "mts(state_means=[[3, 2, 1], [1, 3, 2], [2, 1, 3]])")
    assert "MTS" in line
    assert "remembers more than counts" in refused(*put, "lobts(project_every=2)")
    assert "unknown policy 'lobt'" in refused(*put, "lobt")


def test_export(tmp_path: Path, store: str) -> None:
    with lob.DecisionService(lob.UCB(2, sigma=1.0, arms=("a", "b")), store) as served:
        decisions = served.decide_many([f"u{i}" for i in range(20)])
        served.record_many([(decision.id, 1.5) for decision in decisions[:15]])
    log = tmp_path / "log.ndjson"
    assert lines("export", "--store", store, "--out", str(log)) == [f"20 rows saved to {log}"]
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["id"] for row in rows] == [decision.id for decision in decisions]
    table = tmp_path / "log.parquet"
    words = ("--columns", "obp", "--after", str(rows[4]["number"]))
    (line,) = lines("export", "--store", store, "--out", str(table), *words)
    assert line == f"10 rows saved to {table}"
    found = pl.read_parquet(table)
    assert found.columns == ["user", "action", "arm", "reward", "pscore"]
    assert (found.height, found["reward"].unique().to_list()) == (10, [1.5])
    lines("export", "--store", store, "--out", str(table), "--format", "ndjson")
    assert len(table.read_text().splitlines()) == 20


def test_rows_that_the_caller_chose_are_not_counted_as_exported(tmp_path: Path, store: str) -> None:
    with lob.DecisionService(lob.UCB(2, sigma=1.0, arms=("a", "b")), store) as served:
        served.record_many([(served.decide("x", shown="a").id, 1.5) for _ in range(3)])
        served.record(served.decide("y").id, 2.5)
    path = tmp_path / "log.csv"
    words = ("export", "--store", store, "--out", str(path), "--columns", "obp")
    assert lines(*words) == [f"1 row saved to {path}"]
    assert pl.read_csv(path)["reward"].to_list() == [2.5]


def test_export_of_csv(tmp_path: Path, store: str) -> None:
    with lob.DecisionService(lob.UCB(2, sigma=1.0, arms=("a", "b,c")), store) as served:
        first = served.decide_many(["x", "y"])[0]
        served.record_many([(first.id, 1.5)])
    path = tmp_path / "log.csv"
    assert lines("export", "--store", store, "--out", str(path)) == [f"2 rows saved to {path}"]
    found, rows = pl.read_csv(path), tmp_path / "log.ndjson"
    lines("export", "--store", store, "--out", str(rows))
    expected = [json.loads(line) for line in rows.read_text().splitlines()]
    assert found.to_dicts() == expected
    lines("export", "--store", store, "--out", str(path), "--after", "99")
    assert pl.read_csv(path).columns == list(expected[0])


def test_a_new_arm(tmp_path: Path, store: str) -> None:
    orders, out = write_orders(tmp_path), tmp_path / "more.json"
    grow = ("model", "add-arm", "new", "--orders", str(orders), "--out", str(out))
    assert lines(*grow) == [f"model with new saved to {out}"]
    assert lob.LatentOrders.load(out) == lob.LatentOrders.load(orders).with_arm("new")
    lines(*grow, "--like", ARMS[0])
    assert lob.LatentOrders.load(out) == lob.LatentOrders.load(orders).with_arm("new", ARMS[0])
    lines("model", "put", "--orders", str(out), "--store", store)
    assert lines("model", "show", "--store", store)[1] == f"arms: {', '.join((*ARMS, 'new'))}"
    assert "'nothing'" in refused(*grow, "--like", "nothing")
    again = ("model", "add-arm", ARMS[0], "--orders", str(orders), "--out", str(out))
    assert f"there is an arm {ARMS[0]!r} already" in refused(*again)


def test_export_refuses(tmp_path: Path, store: str) -> None:
    out = str(tmp_path / "log.csv")
    assert "there is no store at" in refused("export", "--store", store, "--out", out)
    assert not list(tmp_path.iterdir())
    assert "unknown --format 'xls'" in refused("export", "--out", out, "--format", "xls")
    assert "unknown --columns 'all'" in refused("export", "--out", out, "--columns", "all")
    for name in ("l.xlsx", "l.csv.gz", "l"):
        wrong = refused("export", "--store", store, "--out", str(tmp_path / name))
        assert "--out must end in .ndjson or .jsonl or .csv or .parquet" in wrong
    nowhere = str(tmp_path / "no" / "log.csv")
    assert "does not exist" in refused("export", "--store", store, "--out", nowhere)
    assert not Path(out).exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 can be reached from other machines"),
        (["--policy", "mts"], "mts needs every state's means"),
        (["--policy", "lobt"], "unknown policy 'lobt'; did you mean 'lobts'?"),
        (["--store", "mysql://x"], "a store cannot be 'mysql'"),
        (["--workers", "0"], "--workers must be a whole number of at least 1"),
        (["--log-level", "loud"], "unknown --log-level 'loud'"),
        (["--orders", "nowhere.json"], "cannot read nowhere.json"),
        (["--port", "99999"], "port must be a whole number of at most 65535"),
    ],
)
def test_serve_refuses(tmp_path: Path, store: str, options: list[str], message: str) -> None:
    orders = str(write_orders(tmp_path))
    assert message in refused("serve", "--orders", orders, "--store", store, *options)


def test_a_port_that_is_taken(tmp_path: Path, store: str) -> None:
    orders = str(write_orders(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = refused("serve", "--orders", orders, "--store", store, "--port", str(port))
    assert f"cannot listen on 127.0.0.1, port {port}" in found


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "NEEDED", ("json", "no_such_package"))
    for words in (["serve"], ["export", "--out", "x"], ["model", "show"]):
        assert "pip install '.[service]'" in refused(*words)


@pytest.mark.parametrize(
    ("config", "variables", "message"),
    [
        ("workers = 0", {}, "--workers must be a whole number of at least 1, got 0"),
        ("", {"LOB_WORKERS": "0"}, "--workers must be a whole number of at least 1, got 0"),
        ("workers = 0\nlog_level = 'x'", {"LOB_WORKERS": "1"}, "unknown --log-level 'x'"),
    ],
)
def test_options_from_a_file_and_from_variables(
    tmp_path: Path, config: str, variables: dict[str, str], message: str
) -> None:
    """The environment goes before the file, and the command line before both."""
    path = tmp_path / "lob.toml"
    path.write_text(config)
    words = ["serve", "--config", str(path)]
    assert message in RUNNER.invoke(app, words, env=variables).stderr
    first = RUNNER.invoke(app, [*words, "--workers", "-1"], env=variables)
    assert "at least 1, got -1" in first.stderr


@pytest.mark.parametrize(
    ("config", "message"),
    [("worker = 1", "worker"), ("workers = [", "TOML"), ("[serve]\nport = 1", "serve")],
)
def test_wrong_files_of_options(tmp_path: Path, config: str, message: str) -> None:
    path = tmp_path / "lob.toml"
    path.write_text(config)
    result = RUNNER.invoke(app, ["serve", "--config", str(path)])
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_store_from_a_variable(tmp_path: Path, store: str) -> None:
    lines("model", "put", "--orders", str(write_orders(tmp_path)), "--store", store)
    result = RUNNER.invoke(app, ["model", "show"], env={"LOB_STORE": store})
    assert result.output.startswith("model 1-")
