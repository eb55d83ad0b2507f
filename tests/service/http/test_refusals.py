"""What is refused: a clear 4xx in the one form of errors, and the server lives on."""

import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.service.http.running import Running

from lobandits.service.http.json_log import JsonLines

SINGLE, REWARD = "/v1/decisions", "/v1/rewards"
ID = "0" * 32


def code(answer: httpx.Response) -> str:
    """Return the code of a refusal, after a look at its form."""
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.headers["content-type"] == "application/json"
    (error,) = answer.json().values()
    assert set(error) == {"code", "message"}
    assert 0 < len(error["message"]) < 500
    assert "Traceback" not in answer.text
    return str(error["code"])


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (SINGLE, {}, 422),
        (SINGLE, [], 422),
        (SINGLE, "user", 422),
        (SINGLE, None, 422),
        (SINGLE, {"user": ""}, 422),
        (SINGLE, {"user": 7.5}, 422),
        (SINGLE, {"user": None}, 422),
        (SINGLE, {"user": "x" * 10_000}, 422),
        (SINGLE, {"user": "nul\0"}, 422),
        (SINGLE, {"user": "u", "alowed": ["tea"]}, 422),
        (SINGLE, {"user": "u", "allowed": []}, 422),
        (SINGLE, {"user": "u", "allowed": "tea"}, 422),
        (SINGLE, {"user": "u", "allowed": ["tea", 1]}, 422),
        (SINGLE, {"user": "u", "allowed": ["tee"]}, 422),
        (SINGLE, {"user": "u", "allowed": ["tea"] * 10_001}, 422),
        (SINGLE, {"user": "u", "id": "short"}, 422),
        (SINGLE, {"user": "u", "id": "G" * 32}, 422),
        ("/v1/decisions/batch", {"requests": []}, 422),
        ("/v1/decisions/batch", {"requests": [{"user": "u"}] * 1001}, 422),
        ("/v1/decisions/batch", {"requests": [{"user": "u"}, {"user": ""}]}, 422),
        ("/v1/decisions/batch", {"requests": [{"user": "u", "allowed": ["no"]}]}, 422),
        (REWARD, {"decision": ID, "reward": 1}, 404),
        (REWARD, {"decision": "what?", "reward": 1}, 404),
        (REWARD, {"decision": "x" * 10_000, "reward": 1}, 404),
        (REWARD, {"decision": ID, "reward": 1e308}, 422),
        (REWARD, {"decision": ID, "reward": "1"}, 422),
        (REWARD, {"decision": ID, "reward": None}, 422),
        (REWARD, {"decision": ID}, 422),
        ("/v1/rewards/batch", {"rewards": [{"decision": ID, "reward": 1}] * 1001}, 422),
        ("/v1/nothing", {}, 404),
        ("/v1/decisions/", {"user": "u"}, 404),
    ],
)
def test_wrong_bodies(server: Running, path: str, body: Any, status: int) -> None:
    answer = server.post(path, body)
    code(answer)
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "nonsense", "[" * 100_000, '{"user": "\\ud800"}', '{"user": "a" "b"}',
        '{"decision": "x", "reward": NaN}', '{"decision": "x", "reward": Infinity}',
        '{"decision": "x", "reward": -Infinity}', '{"decision": "x", "reward": 1e999}',
        '{"decision": "x", "reward": 1' + "0" * 400 + "}",
        '{"decision": "x", "reward": 1' + "0" * 5000 + "}",
        b'{"user": "\xff"}', b"\x00", '{"user": "a"}' + " " * 10 + "x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", [SINGLE, REWARD])
def test_no_valid_json(server: Running, path: str, text: str | bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = server.http.post(path, content=text, headers=headers)
    code(answer)
    assert answer.status_code in (400, 422)


def test_json_must_be_called_json(server: Running) -> None:
    answer = server.http.post(
        SINGLE, content='{"user": "u"}', headers={"content-type": "text/plain"}
    )
    assert code(answer) == "invalid_request"
    assert answer.json()["error"]["message"] == "send JSON, with content-type: application/json"
    nameless = server.http.post(SINGLE, content='{"user": "u"}')  # no browser asks before these
    assert nameless.json() == answer.json()


def test_a_field_of_any_name_is_refused_in_few_words(server: Running) -> None:
    assert code(server.post(SINGLE, {"user": "u", "x" * 1_000_000: 1})) == "invalid_request"


def test_arms_are_named_in_the_message(server: Running) -> None:
    answer = server.post(SINGLE, {"user": "u", "allowed": ["tee"]})
    assert answer.json()["error"]["code"] == "unknown_arm"
    assert "'tea'" in answer.json()["error"]["message"]


def test_ten_megabytes_are_too_much(server: Running) -> None:
    body = {"user": "x" * 10_000_000}
    assert code(server.post(SINGLE, body)) == "too_large"


def test_ten_megabytes_in_chunks_are_too_much(server: Running) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"user": "'
        yield from (b"x" * 100_000 for _ in range(100))
        yield b'"}'

    headers = {"content-type": "application/json"}
    answer = server.http.post(SINGLE, content=chunks(), headers=headers)
    assert (answer.status_code, code(answer)) == (413, "too_large")


def test_a_body_in_chunks_is_fine(server: Running) -> None:
    headers = {"content-type": "application/json"}
    answer = server.http.post(SINGLE, content=iter([b'{"us', b'er": "u"}']), headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize("name", ["x" * 10_000, "%F0%9F%98%80" * 5_000, "", "nul%00", "%ff"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_names_that_are_none(server: Running, method: str, name: str) -> None:
    answer = server.http.request(method, f"/v1/users/{name}")
    assert answer.status_code in (404, 422) or (method, name) == ("DELETE", "%ff")
    if answer.status_code != 200:
        code(answer)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/log?format=xml", 422), ("/v1/log?after=-1", 422), ("/v1/log?after=x", 422),
        ("/v1/log?after=99999999999999999999", 422), ("/v1/activity?minutes=0", 422),
        ("/v1/activity?minutes=99999999", 422), ("/v1/decisions", 405), ("/docs", 404),
    ],
)  # fmt: skip
def test_wrong_queries(server: Running, path: str, status: int) -> None:
    answer = server.http.get(path)
    code(answer)
    assert answer.status_code == status


@pytest.mark.parametrize(
    "policy",
    [
        {}, {"policy": "ubc"}, {"policy": "ucb"}, {"policy": 7}, {"policy": "ucb", "n_arms": 1e9},
        {"policy": "ucb", "n_arms": 10**12, "sigma": 1.0, "arms": None},
        {"policy": "ucb", "n_arms": 1, "sigma": 1.0, "arms": ["nul\0"]},
        {"policy": "ucb", "n_arms": 1, "sigma": 1.0, "arms": ["x" * 257]},
        {"policy": "lobts", "orders": {"arms": 3}, "sigma": 1.0, "project_every": 1},
    ],
)  # fmt: skip
def test_no_policies(server: Running, policy: dict[str, Any]) -> None:
    answer = server.http.put("/v1/model", json={"policy": policy})
    assert code(answer) == "invalid_request"


def test_only_this_machines_names_without_keys(server: Running) -> None:
    answer = server.http.get("/v1/model", headers={"host": "example.com"})
    assert (answer.status_code, code(answer)) == (403, "forbidden")
    for host in ("localhost.example.com", "127.0.0.1.example.com:80", "example.com@localhost"):
        assert server.http.get("/", headers={"host": host}).status_code == 403
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:80", "[::1]", "LocalHost"):
        assert server.http.get("/healthz", headers={"host": host}).status_code == 200


def test_half_a_character_in_one_reward_counts_none(server: Running) -> None:
    decision = server.decide("surrogate")
    text = json.dumps(
        {"rewards": [{"decision": i, "reward": 1} for i in (decision["id"], "\ud800")]}
    )
    kind = {"content-type": "application/json"}
    answer = server.http.post("/v1/rewards/batch", content=text, headers=kind)
    assert (answer.status_code, code(answer)) == (422, "invalid_request")
    assert server.http.get("/v1/users/surrogate").json()["plays"] == 0


def test_the_log_says_where_an_error_came_from_without_its_words() -> None:
    name = "secret" + "name"
    try:
        try:
            raise KeyError(name)
        except KeyError as error:
            raise ValueError(name) from error
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "failed", None, sys.exc_info())
    line = JsonLines().format(record)
    assert name not in line
    assert json.loads(line)["traceback"].endswith("ValueError")
    assert "KeyError\n" in json.loads(line)["traceback"]
