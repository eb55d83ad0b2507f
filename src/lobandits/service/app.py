"""The HTTP interface as an ASGI app; it only translates what `DecisionService` does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

import lobandits
from lobandits.errors import LobError
from lobandits.service import routes
from lobandits.service.answers import refusal
from lobandits.service.decisions import DecisionService
from lobandits.service.limits import BodyLimit
from lobandits.service.queue import CallQueue
from lobandits.service.settings import Guard, Settings
from lobandits.service.watch import LOG, Metrics, Watch

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
    metrics = Metrics()
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
    )  # fmt: skip
    app.add_exception_handler(LobError, _refused)
    app.add_exception_handler(RequestValidationError, _unread)
    app.add_exception_handler(HTTPException, _unrouted)
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


async def _refused(request: Request, error: Exception) -> Response:
    code = str(getattr(error, "code", "invalid_request"))
    status = STATUS.get(code, 422)
    return refusal(status, code, str(error), {"Retry-After": "1"} if status == 503 else None)


async def _unread(request: Request, error: Exception) -> Response:
    """Say where the request is wrong, without repeating what it holds."""
    assert isinstance(error, RequestValidationError)
    kind = request.headers.get("content-type", "")
    if "json" not in kind.lower() and error.errors()[0]["loc"] == ("body",):
        return refusal(422, "invalid_request", "send JSON, with content-type: application/json")
    reasons = [
        f"{'.'.join(map(str, reason['loc'])):.{LONGEST_PLACE}}: {reason['msg']}"
        for reason in error.errors()
    ]
    more = [f"and {len(reasons) - MOST_REASONS} more"] if len(reasons) > MOST_REASONS else []
    return refusal(422, "invalid_request", "; ".join(reasons[:MOST_REASONS] + more))


async def _unrouted(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status, headers = error.status_code, error.headers
    if status == 400:
        return refusal(422, "invalid_request", "the body is no valid JSON")
    if status == 405:
        routes = [r for r in request.app.routes if r.matches(request.scope)[0] != Match.NONE]
        methods = {method for route in routes for method in route.methods}
        headers = {"Allow": ", ".join(sorted(methods))}
    return refusal(status, NAMES.get(status, "refused"), str(error.detail), headers)
