"""The HTTP interface as an ASGI app; it only translates what `DecisionService` does."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

import lobandits
from lobandits.service.decision_service import DecisionService
from lobandits.service.http.bodies import DESCRIPTION, TAGS
from lobandits.service.http.guard import BodyLimit, KeyCheck
from lobandits.service.http.json_log import RequestLog
from lobandits.service.http.keys import KeyRing, Settings
from lobandits.service.http.metrics import Metrics
from lobandits.service.http.refusals import HANDLERS
from lobandits.service.http.routes import (
    add_admin,
    add_decisions,
    add_health,
    add_history,
    add_models,
    add_page,
)
from lobandits.service.known_features import silent_features

logger = logging.getLogger(__name__)


def create_app(
    service: DecisionService, settings: Settings | None = None, apprentice: str | None = None
) -> FastAPI:
    """Return the app that serves ``service``, and closes it at the end; any ASGI server runs it.

    With ``apprentice``, the caller's own system chooses: every request for a decision says in the
    field of that name which arm it shows, and the service decides silently.
    """
    settings = settings or Settings()
    ring = KeyRing(settings.keys)
    metrics = Metrics()
    service.store.on_unavailable = metrics.store_errors.inc

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(_expire(service))
        yield
        sweeping.cancel()
        service.close()

    app = FastAPI(
        title="lobandits", version=lobandits.__version__, description=DESCRIPTION,
        openapi_tags=[{"name": name, "description": whom} for name, whom in TAGS.items()],
        docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan,
        middleware=[
            Middleware(RequestLog, metrics=metrics),
            Middleware(KeyCheck, ring=ring, usual=service.problem),
            Middleware(BodyLimit, most=settings.max_body),
        ],
        exception_handlers=HANDLERS,
    )  # fmt: skip
    app.state.ring = ring
    add_decisions(
        app, service.queue.answer, metrics, service.problem, apprentice, lambda features, problem:
        silent_features(service.served(problem)[1], features),
    )  # fmt: skip
    add_admin(app, service)
    add_history(app, service.queue.answer)
    add_models(app, service)
    add_health(app, service, metrics)
    add_page(app)
    return app


async def _expire(service: DecisionService) -> None:
    """Give the default reward to decisions that waited too long, again and again."""
    pause = min(max((service.reward_wait or 60.0) / 4, 0.5), 60.0)
    while True:
        await asyncio.sleep(pause)
        try:
            await run_in_threadpool(service.expire)
        except Exception:
            logger.exception("could not expire decisions")
