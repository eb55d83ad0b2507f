"""The HTTP interface as an ASGI app; it only translates what `DecisionService` does."""

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest
from time import perf_counter

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import lobandits
from lobandits.errors import LobError, LobInputError
from lobandits.service import DecisionService, routes, schemas

API_KEY = "LOB_API_KEY"
ADMIN_KEY = "LOB_ADMIN_KEY"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
LOG = logging.getLogger("lobandits.service")
MOST_REASONS = 3


@dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Who has the ``api_key`` may decide and record rewards, who has the ``admin_key`` may do
    everything; without any key everybody may, from this machine. Bodies of requests have up to
    ``max_body`` bytes.
    """

    api_key: str | None = field(default=None, repr=False)
    admin_key: str | None = field(default=None, repr=False)
    max_body: int = 4 * 2**20

    def __post_init__(self) -> None:
        for name, key in ((API_KEY, self.api_key), (ADMIN_KEY, self.admin_key)):
            if key is not None and not (key.isascii() and key.isprintable() and key.strip() == key):
                raise LobInputError(f"{name} must be printable ASCII without spaces at its ends")
        if self.has_keys and self.api_key == self.admin_key:
            raise LobInputError(f"{API_KEY} and {ADMIN_KEY} must differ: they are two roles")

    @property
    def has_keys(self) -> bool:
        """Whether requests need a key."""
        return self.api_key is not None or self.admin_key is not None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Return the settings with the keys of the environment; an empty one is no key."""
        return cls(environment.get(API_KEY) or None, environment.get(ADMIN_KEY) or None)

    def check_host(self, host: str) -> None:
        """Refuse to listen beyond this machine without a key."""
        if not self.has_keys and host not in LOOPBACK:
            raise LobInputError(
                f"--host {host} can be reached from other machines, so a key is needed: "
                f"set {API_KEY} and {ADMIN_KEY}, or listen on 127.0.0.1"
            )


def create_app(service: DecisionService, settings: Settings | None = None) -> FastAPI:
    """Return the app that serves ``service``, and closes it at the end; any ASGI server runs it."""
    settings = settings or Settings()
    metrics = routes.Metrics()
    queue = routes.CallQueue(service.run)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(_expire(service))
        yield
        sweeping.cancel()
        queue.close()
        service.close()

    app = FastAPI(
        title="lobandits", version=lobandits.__version__, description=schemas.DESCRIPTION,
        openapi_tags=[{"name": name, "description": whom} for name, whom in schemas.TAGS.items()],
        docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan,
        middleware=[
            Middleware(Watch, metrics=metrics),
            Middleware(Guard, settings=settings),
            Middleware(BodyLimit, most=settings.max_body),
        ],
        exception_handlers={
            LobError: _refused,
            RequestValidationError: _unread,
            HTTPException: _unrouted,
        },
    )  # fmt: skip
    routes.add_decisions(app, queue, metrics)
    routes.add_admin(app, service)
    routes.add_health(app, service, metrics)
    routes.add_page(app)
    return app


async def _expire(service: DecisionService) -> None:
    """Give the default reward to decisions that waited too long, again and again."""
    pause = min(max((service.reward_wait or 60.0) / 4, 0.5), 60.0)
    while True:
        await asyncio.sleep(pause)
        try:
            await run_in_threadpool(service.expire)
        except Exception:
            LOG.exception("could not expire decisions")


async def _refused(request: Request, error: LobError) -> Response:
    code = str(getattr(error, "code", "invalid_request"))
    status = schemas.STATUS.get(code, 422)
    return refusal(status, code, str(error), {"Retry-After": "1"} if status == 503 else None)


async def _unread(request: Request, error: RequestValidationError) -> Response:
    """Say where the request is wrong, without repeating what it holds."""
    reasons = [
        f"{'.'.join(map(str, reason['loc'])):.80}: {reason['msg']}"  # fields may have any name
        for reason in error.errors()
    ]
    kind = request.headers.get("content-type", "")
    if "json" not in kind.lower() and error.errors()[0]["loc"] == ("body",):
        reasons = ["send JSON, with content-type: application/json"]
    if len(reasons) > MOST_REASONS:
        reasons[MOST_REASONS:] = [f"and {len(reasons) - MOST_REASONS} more"]
    return refusal(422, "invalid_request", "; ".join(reasons))


async def _unrouted(request: Request, error: HTTPException) -> Response:
    status, headers = error.status_code, error.headers
    if status == 400:
        return refusal(422, "invalid_request", "the body is no valid JSON")
    if status == 405:
        there = [r for r in request.app.routes if r.matches(request.scope)[0] != Match.NONE]
        headers = {"Allow": ", ".join(sorted(set().union(*(route.methods for route in there))))}
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "refused")
    return refusal(status, code, str(error.detail), headers)


class Watch:
    """The outermost layer: every request is logged and counted, every failure answered."""

    def __init__(self, app: ASGIApp, metrics: routes.Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and watch what comes back."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        status, began = 0, perf_counter()

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, seen)
        except Exception:
            LOG.exception("failed", extra={"fields": {"route": _route(scope)}})
            if status:  # half an answer must not look like a whole one
                raise
            answer = refusal(500, "internal", "unexpected error; the server's log has more")
            await answer(scope, receive, seen)
        finally:
            self._note(scope, status, perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        known = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")
        method = scope["method"] if scope["method"] in known else "other"
        route = _route(scope)
        self.metrics.requests.labels(method, route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        ms = round(1000 * seconds, 3)
        fields = {"method": method, "route": route, "status": status, "ms": ms}
        LOG.info("request", extra={"fields": fields})


def _route(scope: Scope) -> str:
    """Return the template of the route, since paths hold the names of users."""
    route = scope.get("route")
    return route.path_format if route is not None else "(none)"


def refusal(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer ``{"error": {"code", "message"}}``, whatever went wrong."""
    body = json.dumps({"error": {"code": code, "message": message}})
    return Response(body, status, headers, media_type="application/json")


class BodyLimit:
    """Answers 413 to a body above ``most`` bytes, however it is sent."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then answer or pass it on."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        first = await self._read(receive)
        if first is None:
            message = f"the body is larger than {self.most} bytes; send smaller batches"
            return await refusal(413, "too_large", message)(scope, receive, send)
        unread = [first]

        async def again() -> Message:
            return unread.pop() if unread else await receive()

        return await self.app(scope, again, send)

    async def _read(self, receive: Receive) -> Message | None:
        """Return the whole body as one message, None if it is too large."""
        body, size = bytearray(), 0
        while (message := await receive())["type"] == "http.request":
            part = message.get("body", b"")
            size += len(part)
            if size <= self.most:
                body += part
            # A body that is not far too large is read and dropped, so that we are heard.
            if not message.get("more_body") or size > 16 * self.most:
                return None if size > self.most else {"type": "http.request", "body": bytes(body)}
        return message  # the client went away


class Role(IntEnum):
    """What a key allows; a higher role may do more."""

    ANYBODY = 0
    DECIDE = 1
    ADMIN = 2


NEEDS = dict.fromkeys((*routes.PAGE, "/healthz", "/readyz"), Role.ANYBODY) | dict.fromkeys(
    ("/v1/decisions", "/v1/decisions/batch", "/v1/rewards", "/v1/rewards/batch"), Role.DECIDE
)
"""The role that each path needs; any other path, also one that does not exist, needs ADMIN."""


class Guard:
    """Lets a request pass if its key allows it.

    Without keys everybody may do everything, but only under a name of this machine: else a web
    page could reach the server through the browser of someone who sits at it.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        keys = ((Role.DECIDE, settings.api_key), (Role.ADMIN, settings.admin_key))
        self.keys = [(role, sha256(key.encode()).digest()) for role, key in keys if key is not None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        answer = self._refuse(scope) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, send)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self.keys:
            host = headers.get("host", "")
            name, _, port = host.rpartition(":")
            if (name if port.isdigit() else host).strip("[]").lower() in LOOPBACK:
                return None
            message = (
                "without keys this server answers only to localhost, 127.0.0.1 and [::1]; "
                f"set {API_KEY} and {ADMIN_KEY} to serve other names"
            )
            return refusal(403, "forbidden", message)
        role = self.role(headers.get("authorization", ""))
        if role >= NEEDS.get(scope["path"], Role.ADMIN):
            return None
        if role == Role.ANYBODY:
            message = "the header 'Authorization: Bearer KEY' is missing or its key is wrong"
            return refusal(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        return refusal(403, "forbidden", f"this key may not do that; use the one in {ADMIN_KEY}")

    def role(self, authorization: str) -> Role:
        """Return the role of a header; every key is compared, in constant time."""
        kind, _, key = authorization.partition(" ")
        given = sha256(key.strip().encode("latin-1")).digest()
        found = [role for role, known in self.keys if compare_digest(known, given)]
        return max(found, default=Role.ANYBODY) if kind.lower() == "bearer" else Role.ANYBODY
