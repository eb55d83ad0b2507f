"""Who may do what, on every route of the app and on those that are none."""

import re

import pytest
from fastapi.routing import APIRoute
from tests.service.http.running import KEYS, Running, some_app

from lobandits.errors import LobInputError
from lobandits.service.http import Settings
from lobandits.service.http.guard import NEEDS
from lobandits.service.http.keys import KeyRing, Role
from lobandits.service.http.routes import PAGE

DECIDE, ADMIN = KEYS.values()
OPEN = {"/healthz", "/readyz", *PAGE}
HOT = {"/v1/decisions", "/v1/decisions/batch", "/v1/rewards", "/v1/rewards/batch"}


def routes() -> list[tuple[str, str]]:
    """Return the method and path of every route that the app has, and of some it has not."""
    documented = some_app().openapi()["paths"]
    known = [(method.upper(), path) for path, methods in documented.items() for method in methods]
    known += [("GET", path) for path in PAGE]
    unknown = [("GET", "/openapi.json"), ("GET", "/docs"), ("GET", "/v1/decisions"),
               ("POST", "/v1/decisions/"), ("GET", "/v1/nothing"), ("TRACE", "/v1/log"),
               ("GET", "/healthz/"), ("GET", "/HEALTHZ"), ("GET", "/static/none.js"),
               ("GET", "/static/%2e%2e/v1/log"), ("GET", "//v1/log")]  # fmt: skip
    return [(method, re.sub(r"{\w+}", "someone", path)) for method, path in known + unknown]


ROUTES = routes()


def test_the_routes_are_all_known() -> None:
    app = some_app()
    paths = {route.path_format for route in app.routes if isinstance(route, APIRoute)}
    assert {re.sub(r"{\w+}", "someone", path) for path in paths} <= {path for _, path in ROUTES}
    assert paths >= OPEN | HOT
    assert {path for path, role in NEEDS.items() if role == Role.DECIDE} == HOT
    assert {path for path, role in NEEDS.items() if role == Role.ANYBODY} == OPEN


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer wrong", "Basic admin-key", "admin-key",
     "Bearer admin-ke", "Bearer admin-key2", "Bearer decide-key admin-key", "Bearer ädmin"],
)  # fmt: skip
def test_without_a_right_key(
    guarded: Running, method: str, path: str, authorization: str | None
) -> None:
    headers = {} if authorization is None else {"authorization": authorization.encode("latin-1")}
    answer = guarded.http.request(method, path, headers=headers)  # type: ignore[arg-type]
    if path in OPEN:
        assert answer.status_code == 200
    else:
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["code"] == "unauthorized"


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_with_the_key_to_decide(guarded: Running, method: str, path: str) -> None:
    headers = {"authorization": f"Bearer {DECIDE}"}
    answer = guarded.http.request(method, path, headers=headers)
    if path in OPEN | HOT:
        assert answer.status_code in (200, 405, 422)
    else:
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_with_the_admin_key(guarded: Running, method: str, path: str) -> None:
    headers = {"authorization": f"bearer  {ADMIN}"}
    answer = guarded.http.request(method, path, headers=headers)
    assert answer.status_code in (200, 404, 405, 409, 422)


def test_both_keys_decide(guarded: Running) -> None:
    for key in (DECIDE, ADMIN):
        decision = guarded.post("/v1/decisions", {"user": "u"}, key).json()
        report = {"decision": decision["id"], "reward": 1.0}
        assert guarded.post("/v1/rewards", report, key).json() == {"status": "recorded"}


def test_a_large_body_without_a_key_is_not_read(guarded: Running) -> None:
    assert guarded.http.post("/v1/decisions", content=b"x" * 5_000_000).status_code == 401


def test_one_key_alone() -> None:
    ring = KeyRing(Settings(api_key="a" * 8).keys)
    assert ring.find("Bearer aaaaaaaa").role == Role.DECIDE
    assert ring.find("Bearer ").role == Role.ANYBODY
    assert KeyRing(Settings(admin_key="b" * 8).keys).find("Bearer bbbbbbbb").role == Role.ADMIN


@pytest.mark.parametrize("key", [" 12345678", "12345678\n", "ä2345678", "\x7f2345678"])
def test_keys_that_no_header_can_hold(key: str) -> None:
    with pytest.raises(LobInputError, match="LOB_API_KEY must be printable"):
        Settings(api_key=key)


def test_settings() -> None:
    with pytest.raises(LobInputError, match="must differ"):
        Settings(api_key="12345678", admin_key="12345678")
    with pytest.raises(LobInputError, match="LOB_API_KEY must have at least 8 characters, got 1"):
        Settings(api_key="a")
    assert not Settings.from_environment({"LOB_API_KEY": ""}).has_keys
    assert "secret" not in repr(Settings(api_key="secret-1", admin_key="secret-2"))
    for host in ("127.0.0.1", "localhost", "::1"):
        Settings().check_host(host)
    for host in ("0.0.0.0", "::", "192.168.0.1", "example.com", ""):
        with pytest.raises(LobInputError, match="a key is needed"):
            Settings().check_host(host)
        Settings(api_key="12345678").check_host(host)


BODY = b'{"user": "victim"}'


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_what_a_form_of_another_site_could_send_is_no_json(
    server: Running, kind: str | None
) -> None:
    headers = {} if kind is None else {"content-type": kind}
    answer = server.http.post("/v1/decisions", content=BODY, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_request")
    assert "application/json" in answer.json()["error"]["message"]
    assert server.http.get("/v1/users/victim").status_code == 404


@pytest.mark.parametrize("origin", ["http://example.com", "null", "http://127.0.0.1:1", "http://["])
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v1/model/rollback"), ("DELETE", "/v1/users/victim")]
)
def test_pages_of_other_sites_send_nothing(
    server: Running, method: str, path: str, origin: str
) -> None:
    answer = server.http.request(method, path, headers={"origin": origin})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    mine = {"origin": server.url}
    assert server.http.request("DELETE", "/v1/users/victim", headers=mine).status_code == 200
