"""The HTTP interface as an ASGI app; it only translates what `DecisionService` does."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
from lobandits.errors import LobError
from lobandits.service import routes
from lobandits.service.answers import BodyLimit, refusal
from lobandits.service.decisions import DecisionService
from lobandits.service.queue import CallQueue
from lobandits.service.settings import ADMIN_KEY, API_KEY, LOOPBACK, Settings

LOG = logging.getLogger("lobandits.service")
METHODS = frozenset(("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"))
DESCRIPTION = """\
Decisions for users from latent preference orders. Send `Authorization: Bearer KEY`: the key in
`LOB_API_KEY` may decide and record rewards, the one in `LOB_ADMIN_KEY` may do everything. Every
answer that is no success is `{"error": {"code", "message"}}`.
"""
TAGS = [
    {"name": "decide", "description": "For programs that decide: either key."},
    {"name": "admin", "description": "For people who look after the service: the admin key."},
    {"name": "health", "description": "For those who watch over processes."},
]
STATUS = {
    "unknown_decision": 404,
    "unknown_user": 404,
    "reward_conflict": 409,
    "expired": 409,
    "id_conflict": 409,
    "store_unavailable": 503,
}
"""The HTTP status of each code; what is not here is wrong input, 422."""

NAMES = {404: "not_found", 405: "method_not_allowed"}
MOST_REASONS = 3
LONGEST_PLACE = 80  # characters: a field that we do not know may have any name
LONGEST_BREAK = 60.0  # seconds between looks for decisions that nobody rewarded


def create_app(service: DecisionService, settings: Settings | None = None) -> FastAPI:
    """Return the app that serves ``service``, and closes it at the end; any ASGI server runs it.

    By default there are no keys, for requests from this machine.
    """
    settings = settings or Settings()
    metrics = routes.Metrics()
    queue = CallQueue(service.run)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(_expire(service))
        yield
        sweeping.cancel()
        queue.close()
        service.close()

    app = FastAPI(
        title="lobandits", version=lobandits.__version__, description=DESCRIPTION,
        openapi_tags=TAGS, docs_url=None, redoc_url=None, redirect_slashes=False,
        lifespan=lifespan,
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
    pause = min(LONGEST_BREAK, (service.reward_wait or LONGEST_BREAK) / 4)
    while True:
        await asyncio.sleep(max(pause, 0.5))
        try:
            await run_in_threadpool(service.expire)
        except Exception:
            LOG.exception("could not expire decisions")


async def _refused(request: Request, error: LobError) -> Response:
    code = str(getattr(error, "code", "invalid_request"))
    status = STATUS.get(code, 422)
    return refusal(status, code, str(error), {"Retry-After": "1"} if status == 503 else None)


async def _unread(request: Request, error: RequestValidationError) -> Response:
    """Say where the request is wrong, without repeating what it holds."""
    kind = request.headers.get("content-type", "")
    if "json" not in kind.lower() and error.errors()[0]["loc"] == ("body",):
        return refusal(422, "invalid_request", "send JSON, with content-type: application/json")
    reasons = [
        f"{'.'.join(map(str, reason['loc'])):.{LONGEST_PLACE}}: {reason['msg']}"
        for reason in error.errors()
    ]
    more = [f"and {len(reasons) - MOST_REASONS} more"] if len(reasons) > MOST_REASONS else []
    return refusal(422, "invalid_request", "; ".join(reasons[:MOST_REASONS] + more))


async def _unrouted(request: Request, error: HTTPException) -> Response:
    status, headers = error.status_code, error.headers
    if status == 400:
        return refusal(422, "invalid_request", "the body is no valid JSON")
    if status == 405:
        there = [r for r in request.app.routes if r.matches(request.scope)[0] != Match.NONE]
        headers = {"Allow": ", ".join(sorted(set().union(*(route.methods for route in there))))}
    return refusal(status, NAMES.get(status, "refused"), str(error.detail), headers)


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
        method = scope["method"] if scope["method"] in METHODS else "other"
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


class Role(IntEnum):
    """What a key allows; a higher role may do all that a lower one may."""

    ANYBODY = 0
    DECIDE = 1
    ADMIN = 2


NEEDS = dict.fromkeys((*routes.PAGE, "/healthz", "/readyz"), Role.ANYBODY) | dict.fromkeys(
    ("/v1/decisions", "/v1/decisions/batch", "/v1/rewards", "/v1/rewards/batch"), Role.DECIDE
)
"""The role that each path needs; any other path, also one that does not exist, needs ADMIN."""

ALONE = (
    "without keys this server answers only to localhost, 127.0.0.1 and [::1]; "
    f"set {API_KEY} and {ADMIN_KEY} to serve other names"
)


class Guard:
    """Lets a request pass if its key allows it; pure ASGI.

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
            return None if _is_local(headers.get("host", "")) else refusal(403, "forbidden", ALONE)
        need = NEEDS.get(scope["path"], Role.ADMIN)
        role = self.role(headers.get("authorization", ""))
        if role >= need:
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


def _is_local(host: str) -> bool:
    name, _, port = host.rpartition(":")
    return (name if port.isdigit() else host).strip("[]").lower() in LOOPBACK
