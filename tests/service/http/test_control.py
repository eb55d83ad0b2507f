"""Control groups, the floor and apprentices over HTTP, and the commands that go with them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.service.http.running import LOB, Running, running, write_orders


def traffic(server: Running, users: int, turns: int = 1) -> list[dict[str, Any]]:
    """Decide for users and reward each with 1."""
    made = []
    for _ in range(turns):
        requests = [{"user": f"user {i}"} for i in range(users)]
        made += server.post("/v1/decisions/batch", {"requests": requests}).json()["decisions"]
    rewards = [{"decision": decision["id"], "reward": 1.0} for decision in made]
    assert server.post("/v1/rewards/batch", {"rewards": rewards}).status_code == 200
    return made


def numbers(server: Running) -> dict[str, float]:
    """Return the lines of /metrics."""
    lines = server.http.get("/metrics").text.splitlines()
    pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name: float(value) for name, _, value in pairs}


def lob(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LOB, *words], capture_output=True, text=True, check=False)


def test_a_control_group_is_compared_and_outlives_a_restart(tmp_path: Path) -> None:
    options = ("--control", "ucb=0.5", "--control-rewards", "2", "--explore", "0.3")
    with running(tmp_path, *options, "--workers", "2") as server:
        made = traffic(server, users=40, turns=2)
        assert min(decision["probability"] for decision in made) >= 0.3 / 3 - 1e-12
        lone = server.decide("lone")
        rows = [json.loads(line) for line in server.http.get("/v1/log").text.splitlines()]
        groups = {row["user"]: row["group"] for row in rows}
        assert all(row["group"] == groups[row["user"]] for row in rows)
        assert set(groups.values()) == {"model", "control"}
        report = server.http.get("/v1/comparison").json()
        assert report["control"]["policy"] == "ucb"
        assert sum(group["counted"] for group in report["groups"].values()) == 40
        assert sum(group["total"] for group in report["groups"].values()) == 80
        assert report["difference"]["estimate"] == 0.0
        assert report["difference"]["verdict"].startswith("open: too few users")
        found = numbers(server)
        for name in ("model", "control"):
            where = f'{{group="{name}",problem="default"}}'
            assert found[f"lob_reward_sum{where}"] == report["groups"][name]["total"]
            decided = found[f"lob_group_decisions_total{where}"]
            assert decided == report["groups"][name]["decisions"]
        assert found['lob_model_version{problem="default"}'] == 1
        assert 0 <= found['lob_oldest_unrewarded_seconds{problem="default"}'] < 600
        assert found["lob_store_errors_total"] == 0
        assert server.post("/v1/rewards", {"decision": lone["id"], "reward": 1}).status_code == 200
        assert server.http.get("/v1/users/user%201").json()["group"] == groups["user 1"]
    with running(tmp_path, *options) as server:
        traffic(server, users=40)
        rows = [json.loads(line) for line in server.http.get("/v1/log").text.splitlines()]
        assert all(row["group"] == groups[row["user"]] for row in rows)
    told = lob("compare", "--store", server.store)
    assert told.returncode == 0, told.stderr
    assert "control: ucb for 0.5 of users" in told.stdout
    assert "verdict: open" in told.stdout
    plain = json.loads(lob("compare", "--store", server.store, "--json").stdout)
    assert sum(group["decisions"] for group in plain["groups"].values()) == 121


def test_an_apprentice_decides_silently(tmp_path: Path) -> None:
    with running(tmp_path, "--apprentice", "banner") as server:
        assert server.post("/v1/decisions", {"user": "ada"}).status_code == 422
        assert server.post("/v1/decisions", {"user": "ada", "shown": "tea"}).status_code == 422
        for i in range(30):
            decision = server.decide(f"user {i}", banner="tea")
            assert decision["arm"] == "tea"
            reward = {"decision": decision["id"], "reward": 1.0}
            assert server.post("/v1/rewards", reward).status_code == 200
        batch = {"requests": [{"user": "ada", "banner": "milk"}, {"user": "eve", "banner": "tea"}]}
        made = server.post("/v1/decisions/batch", batch).json()["decisions"]
        assert [decision["arm"] for decision in made] == ["milk", "tea"]
        unknown = server.post("/v1/decisions", {"user": "ada", "banner": "wine"})
        assert unknown.json()["error"]["code"] == "unknown_arm"
        report = server.http.get("/v1/comparison").json()
        assert report["control"] is None
        assert report["advice"]["decisions"] == 32
        assert 0 < report["advice"]["changed"] < 1
        schema = server.http.get("/openapi.json").json()["components"]["schemas"]
        assert "banner" in schema["ShownRequest"]["required"]
    told = lob("compare", "--store", server.store)
    assert "apprentice: of 32 decisions it would have changed" in told.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--control", "ucb"), "--control must be POLICY=SHARE"),
        (("--control", "ucb=2"), "share of the control group must be between 0 and 1"),
        (("--control", "popular=0.1"), "popular needs a prior"),
        (("--explore", "1.5"), "--explore"),
        (("--apprentice", "user"), "which has a meaning"),
        (("--apprentice", "shown", "--control", "ucb=0.1"), "leave out --control"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    orders = write_orders(tmp_path)
    place = f"sqlite:///{tmp_path}/lob.db"
    told = lob("serve", "--orders", str(orders), "--store", place, "--port", "0", *options)
    assert told.returncode == 2
    assert message in " ".join(told.stderr.split())


def test_a_store_without_a_control_group(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        assert server.http.get("/v1/comparison").json()["control"] is None
    told = lob("compare", "--store", server.store)
    assert told.stdout.startswith("no control group and no apprentice")
    again = lob("serve", "--store", server.store, "--port", "0", "--control", "ucb=0.1")
    assert again.returncode == 2
    assert (
        "without --model or --orders the store's control group goes on, which is none"
        in " ".join(again.stderr.split())
    )
