"""The HTTP interface as an ASGI app; it only translates what `DecisionService` does."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import lobandits
from lobandits.errors import LobError
from lobandits.service import DecisionService, routes
from lobandits.service.settings import BodyLimit, Guard, Settings, refusal

LOG = logging.getLogger("lobandits.service")
METHODS = frozenset(("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"))
DESCRIPTION = """\
Decisions for users from latent preference orders. Send `Authorization: Bearer KEY`: the key in
`LOB_API_KEY` may decide and record rewards, the one in `LOB_ADMIN_KEY` may do everything. Every
answer that is no success is `{"error": {"code", "message"}}`.
"""
TAGS = {
    "decide": "For programs that decide: either key.",
    "admin": "For people who look after the service: the admin key.",
    "health": "For those who watch over processes.",
}
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
    queue = routes.CallQueue(service.run)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(_expire(service))
        yield
        sweeping.cancel()
        queue.close()
        service.close()

    app = FastAPI(
        title="lobandits", version=lobandits.__version__, description=DESCRIPTION,
        openapi_tags=[{"name": name, "description": whom} for name, whom in TAGS.items()],
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
    reasons = [
        f"{'.'.join(map(str, reason['loc'])):.{LONGEST_PLACE}}: {reason['msg']}"
        for reason in error.errors()
    ]
    kind = request.headers.get("content-type", "")
    if "json" not in kind.lower() and error.errors()[0]["loc"] == ("body",):
        reasons = ["send JSON, with content-type: application/json"]
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
