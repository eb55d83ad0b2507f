"""Several keys per role, some for some problems only, and new ones without a restart."""

import logging
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.service.http.running import KEYS, Running, running

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.service.errors import ForbiddenError, UnauthorizedError, UnknownDecisionError
from lobandits.service.http import Settings
from lobandits.service.http.keys import KeyRing, Role, read_keys

RANKINGS = [["sports", "films"], ["films", "sports"]]
NEWS = lob.LobTS(lob.LatentOrders.from_rankings(RANKINGS, arms=RANKINGS[0]), 1.0)
FILE = """
[[keys]]
key = "decide-news"
role = "decide"
problems = ["news"]

[[keys]]
key = "admin-news"
role = "admin"
problems = ["news", "other"]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "keys.toml"
    found.write_text(FILE)
    return found


def status(server: Running, key: str, method: str, path: str, body: Any = None) -> int:
    headers = {"authorization": f"Bearer {key}"}
    return server.http.request(method, path, json=body, headers=headers).status_code


def test_keys_of_some_problems(tmp_path: Path, path: Path) -> None:
    with (
        running(tmp_path, "--keys", str(path), **KEYS) as server,
        lob.Client(server.url, KEYS["LOB_ADMIN_KEY"]) as everything,
        lob.Client(server.url, "decide-news", problem="news") as decide,
        lob.Client(server.url, "admin-news", problem="news") as admin,
    ):
        admin.put_model(NEWS)
        mine, theirs = decide.decide("ada"), everything.decide("ada")
        for limited in (decide, admin):
            with pytest.raises(UnknownDecisionError):
                limited.record(theirs.id, 1.0)
            assert limited.record_many([(theirs.id, 1.0)]) == ["unknown decision"]
            with pytest.raises(ForbiddenError, match="for these problems only: news"):
                limited.decide("ada", problem="default")
            with pytest.raises(ForbiddenError):
                limited.decide_many(["ada", {"user": "ada", "problem": "default"}])
        assert decide.record(mine.id, 1.0) == "recorded"
        assert everything.record(theirs.id, 1.0) == "recorded"
        assert admin.user("ada")["plays"] == 1
        assert [row["id"] for row in admin.log()] == [mine.id]
        for method, place in (
            ("GET", "/v1/users/ada"), ("GET", "/v1/users/ada?problem=default"),
            ("DELETE", "/v1/users/ada?problem=news"), ("GET", "/v1/log"),
            ("GET", "/v1/log?problem=news&problem=default"), ("GET", "/v1/activity"),
            ("GET", "/v1/model"), ("PUT", "/v1/model?problem=default"),
            ("POST", "/v1/model/rollback"), ("GET", "/v1/problems"), ("GET", "/metrics"),
            ("GET", "/openapi.json"), ("GET", "/v1/nothing?problem=news"),
        ):  # fmt: skip
            assert status(server, "admin-news", method, place, {}) == 403, place
            assert status(server, "decide-news", method, place, {}) == 403, place
        assert status(server, "admin-news", "GET", "/readyz") == 200
        assert everything.user("ada")["plays"] == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_keys_rotate_without_a_restart(tmp_path: Path, path: Path, workers: str) -> None:
    options = ("--keys", str(path), "--workers", workers)
    with running(tmp_path, *options, **KEYS) as server:
        path.write_text(FILE.replace("admin-news", "rotated-news"))
        with lob.Client(server.url, "rotated-news") as client:
            with pytest.raises(UnauthorizedError):
                client.decide("ada", problem="news")
            server.process.send_signal(signal.SIGHUP)
            for _ in range(int(workers)):
                server.wait_for("keys reread", keys=4)
            client.put_model(NEWS, problem="news")
        assert status(server, "admin-news", "GET", "/v1/model?problem=news") == 401
        path.write_text("nonsense")
        server.process.send_signal(signal.SIGHUP)
        server.wait_for(f"going on with the old keys: {path} is no valid TOML: {WHY}")
        for _ in range(100):  # the process that did not put the model follows within a second
            if (found := status(server, "rotated-news", "GET", "/v1/model?problem=news")) == 200:
                break
            time.sleep(0.1)
        assert found == 200


WHY = "Expected '=' after a key in a key/value pair (at end of document)"


def test_several_keys_in_a_variable() -> None:
    ring = KeyRing(Settings.from_environment({"LOB_API_KEY": "first-key,second-key"}).keys)
    for key in ("first-key", "second-key"):
        assert ring.find(f"Bearer {key}")[1:] == (Role.DECIDE, None)
    assert ring.find("Bearer first-key,second-key").role == Role.ANYBODY


def test_the_last_key_does_not_go(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keys = [read_keys(path)]
    ring = KeyRing(lambda: keys[0])
    keys[0] = []
    with caplog.at_level(logging.ERROR):
        ring.reload()
    assert "no key is left" in caplog.text
    assert ring.find("Bearer decide-news").problems == frozenset({"news"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must hold keys"),
        ("keys = 3", "must hold keys"),
        ("other = 1\n[[keys]]\nkey='12345678'\nrole='admin'", "must hold keys"),
        ("[[keys]]\nkey = '12345678'", "key 1 of .* must have the fields"),
        ("[[keys]]\nkey = '12345678'\nrole = 'root'", "the role decide or admin"),
        ("[[keys]]\nkey = 12345678\nrole = 'admin'", "a text as its key"),
        ("[[keys]]\nkey = '1'\nrole = 'admin'", "at least 8 characters, got 1"),
        ("[[keys]]\nkey = '12345678'\nrole = 'admin'\nproblems = 'news'", "list of problems"),
        ("[[keys]]\nkey = '12345678'\nrole = 'admin'\nproblems = []", "list of problems"),
        ("[[keys]]\nkey = '12345678'\nrole = 'admin'\nproblems = ['a b']", "list of problems"),
        (2 * "[[keys]]\nkey = '12345678'\nrole = 'admin'\n", "must differ"),
        ("[[", "is no valid TOML"),
    ],
)
def test_wrong_files_are_refused(path: Path, text: str, message: str) -> None:
    path.write_text(text)
    with pytest.raises(LobInputError, match=message):
        Settings(keys_file=path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LobInputError, match="No such file"):
        Settings(keys_file=tmp_path / "absent.toml")
