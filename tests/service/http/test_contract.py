"""The routes, as the contract has them."""

import io
import json
from urllib.parse import quote

import polars as pl
import pytest
from tests.service.http.running import ARMS, Running

from lobandits.service import new_id

NAMES = [
    "a/b", "..", ".", 'quo"te', "it's", "two\nlines", "end\n", "\t", " ", "😀" * 256, "%2F",
    "?a=b#c", "ß∂", "a\\b", "'; DROP TABLE users; --", "e\u0301", "\u202e", "null",
]  # fmt: skip


def test_a_decision_and_its_reward(server: Running) -> None:
    decision = server.decide("ada")
    assert set(decision) == {"id", "arm", "probability", "model"}
    assert decision["arm"] in ARMS
    assert decision["probability"] == pytest.approx(1 / 3)
    report = {"decision": decision["id"], "reward": 4.5}
    assert server.post("/v1/rewards", report).json() == {"status": "recorded"}
    assert server.post("/v1/rewards", report).json() == {"status": "already recorded"}
    other = server.post("/v1/rewards", {**report, "reward": 4.0})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "reward_conflict")
    known = server.http.get("/v1/users/ada").json()
    assert known["arms"][decision["arm"]] == {"plays": 1, "mean": 4.5}
    assert {row["arm"] for row in known["why"]} == set(ARMS)
    assert sum(state["posterior"] for state in known["states"]) == pytest.approx(1)


def test_allowed_arms_only(server: Running) -> None:
    assert server.decide("choosy", allowed=["milk"])["probability"] == 1.0
    arms = {server.decide("choosy", allowed=["milk", "tea"])["arm"] for _ in range(20)}
    assert arms == {"milk", "tea"}


def test_a_repeated_id_is_the_same_decision(server: Running) -> None:
    key = new_id()
    first = server.decide("again", id=key)
    assert first["id"] == key
    assert all(server.decide("again", id=key) == first for _ in range(5))
    taken = server.post("/v1/decisions", {"user": "other", "id": key})
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "id_conflict")


def test_batches(server: Running) -> None:
    body = {"requests": [{"user": f"b{i}"} for i in range(1000)]}
    decisions = server.post("/v1/decisions/batch", body).json()["decisions"]
    assert len({decision["id"] for decision in decisions}) == 1000
    reports = [{"decision": d["id"], "reward": i} for i, d in enumerate(decisions)]
    reports[7]["decision"] = "unknown"
    results = server.post("/v1/rewards/batch", {"rewards": reports}).json()["results"]
    assert [result["decision"] for result in results] == [r["decision"] for r in reports]
    statuses = [result["status"] for result in results]
    assert statuses[7] == "unknown decision"
    assert set(statuses[:7] + statuses[8:]) == {"recorded"}
    again = server.post("/v1/rewards/batch", {"rewards": reports[:2]}).json()["results"]
    assert [result["status"] for result in again] == ["already recorded"] * 2
    arm = decisions[5]["arm"]
    assert server.http.get("/v1/users/b5").json()["arms"][arm] == {"plays": 1, "mean": 5.0}


@pytest.mark.parametrize("user", NAMES)
def test_any_name_is_a_users_name(server: Running, user: str) -> None:
    decision = server.decide(user)
    assert server.post("/v1/rewards", {"decision": decision["id"], "reward": 1}).status_code == 200
    path = f"/v1/users/{quote(user, safe='').replace('.', '%2E')}"
    found = server.http.get(path).json()
    assert found["user"] == user
    assert found["arms"][decision["arm"]] == {"plays": 1, "mean": 1.0}
    assert server.http.delete(path).json() == {"decisions": 1}
    assert server.http.delete(path).json() == {"decisions": 0}
    assert server.http.get(path).json()["error"]["code"] == "unknown_user"
    late = server.post("/v1/rewards", {"decision": decision["id"], "reward": 1})
    assert (late.status_code, late.json()["error"]["code"]) == (404, "unknown_decision")


def test_the_log(server: Running) -> None:
    decision = server.decide("logged\nuser")
    server.post("/v1/rewards", {"decision": decision["id"], "reward": -2.5})
    waiting = server.decide("logged\nuser")
    answer = server.http.get("/v1/log")
    assert answer.headers["content-type"] == "application/x-ndjson"
    rows = {row["id"]: row for row in map(json.loads, answer.text.splitlines())}
    row = rows[decision["id"]]
    assert (row["user"], row["arm"], row["reward"]) == ("logged\nuser", decision["arm"], -2.5)
    assert row["probability"] == row["pscore"] == decision["probability"]
    assert rows[waiting["id"]]["reward"] is None
    table = pl.read_parquet(io.BytesIO(server.http.get("/v1/log?format=parquet").content))
    assert table["id"].to_list() == list(rows)
    assert table.columns == list(row)
    assert table["time"].dtype == pl.Datetime("us", "UTC")
    answer = server.http.get("/v1/log?format=csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert pl.read_csv(io.StringIO(answer.text))["id"].to_list() == list(rows)
    last = server.http.get("/v1/log", params={"after": row["number"]}).text.splitlines()
    assert [json.loads(line)["id"] for line in last] == [waiting["id"]]


def test_the_log_for_open_bandit_pipeline(server: Running) -> None:
    decision = server.decide("obp")
    server.post("/v1/rewards", {"decision": decision["id"], "reward": 0.25})
    server.decide("obp")
    lines = server.http.get("/v1/log?columns=obp").text.splitlines()
    assert json.loads(lines[-1]) == {
        "user": "obp",
        "action": ARMS.index(decision["arm"]),
        "arm": decision["arm"],
        "reward": 0.25,
        "pscore": decision["probability"],
    }
    data = server.http.get("/v1/log?columns=obp&format=parquet").content
    table = pl.read_parquet(io.BytesIO(data))
    assert table.columns == ["user", "action", "arm", "reward", "pscore"]
    assert len(table) == len(lines)
    assert table["reward"].null_count() == 0


def test_activity_and_the_model(server: Running) -> None:
    server.decide("active")
    activity = server.http.get("/v1/activity?minutes=3").json()
    assert len(activity["minutes"]) == len(activity["decisions"]) == 3
    assert sum(activity["decisions"]) >= 1
    model = server.http.get("/v1/model").json()
    assert model["model"] == activity["model"]
    assert (model["policy"], model["arms"]) == ("lobts", list(ARMS))
    assert model["ranks"] == [[1, 2, 3], [3, 1, 2], [2, 3, 1]]
    same = server.http.put("/v1/model", json={"policy": model["definition"]})
    assert same.json() == {"model": model["model"]}


def test_health_and_numbers(server: Running) -> None:
    assert server.http.get("/healthz").json() == {"status": "ok"}
    ready = server.http.get("/readyz").json()
    model = server.decide("ready")["model"]
    assert ready == {"status": "ready", "model": model, "unreadable": []}
    text = server.http.get("/metrics").text
    assert 'lob_requests_total{method="POST",route="/v1/decisions",status="200"}' in text
    assert 'lob_rewards_total{status="recorded"}' in text
    assert 'lob_decisions_total{arm="tea",problem="default"}' in text
    assert "ada" not in text


def test_headers(server: Running) -> None:
    headers = server.http.get("/healthz").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers
