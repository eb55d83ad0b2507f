"""The HTTP interface as an ASGI app; it only translates what `DecisionService` does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

import lobandits
from lobandits.service.answers import BodyLimit
from lobandits.service.auth import Guard
from lobandits.service.decisions import DecisionService
from lobandits.service.failures import add_failures
from lobandits.service.logs import LOG
from lobandits.service.metrics import Metrics
from lobandits.service.openapi import DESCRIPTION, TAGS
from lobandits.service.queue import CallQueue
from lobandits.service.routes import admin, health, hot, page
from lobandits.service.settings import Settings
from lobandits.service.watch import Watch

LONGEST_BREAK = 60.0  # seconds between looks for decisions that nobody rewarded


def create_app(service: DecisionService, settings: Settings | None = None) -> FastAPI:
    """Return the app that serves ``service``, and closes it at the end.

    Parameters
    ----------
    service
        What decides and records.
    settings
        Keys and limits; by default no keys, for requests from this machine.

    Examples
    --------
    Any ASGI server runs it; ``lob serve`` does this with uvicorn:

    >>> import tempfile
    >>> from lobandits.policies import UCB
    >>> folder = tempfile.TemporaryDirectory()
    >>> service = DecisionService(UCB(2, sigma=1.0), f"sqlite:///{folder.name}/lob.db")
    >>> app = create_app(service, Settings(api_key="k-1", admin_key="k-2"))
    >>> "/v1/decisions" in app.openapi()["paths"]
    True
    >>> service.close(); folder.cleanup()
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
    add_failures(app)
    hot.add_routes(app, queue, metrics)
    admin.add_routes(app, service)
    health.add_routes(app, service, metrics)
    page.add_routes(app)
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
