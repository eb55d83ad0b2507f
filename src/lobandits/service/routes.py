"""The routes of the HTTP interface, the queue behind them, and the numbers for Prometheus."""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from itertools import chain
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Path, Query, Response
from fastapi.responses import StreamingResponse
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.convertors import PathConvertor, register_url_convertor

from lobandits.service import KEEP_MINUTES, DecisionService, schemas
from lobandits.service.calls import Call, DecisionCall, RewardCall, Run, take
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.model import as_policy
from lobandits.service.reports import KINDS, Columns, Format, describe, export
from lobandits.service.work import counted

MOST_TOGETHER = 1_000  # decisions and rewards of one transaction, unless a single call has more
MOST_WAITING = 10_000  # calls
QUIET_TURNS = 3
MOST_TURNS = 50
FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # through it, processes add up their numbers

T = TypeVar("T")


class Metrics:
    """The counters of a server."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("lob_requests", "Requests answered.", labels, registry=registry)
        self.seconds = Histogram(
            "lob_request_seconds", "Time to answer.", ["route"], registry=registry,
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
        )  # fmt: skip
        self.decisions = Counter("lob_decisions", "Decisions made.", ["arm"], registry=registry)
        self.rewards = Counter(
            "lob_rewards", "Rewards answered, by status.", ["status"], registry=registry
        )

    def text(self) -> bytes:
        """Return all numbers as text; with a folder, of all processes."""
        if FOLDER not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)


class CallQueue:
    """Lets coroutines await calls, which one thread runs in groups.

    A group starts when the event loop has been quiet for a few turns (microseconds each): then
    all requests that have arrived are in it, and the loop does not fight with the thread for the
    interpreter lock, which would halve the throughput.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._thread = ThreadPoolExecutor(1, "lob-store")
        self._waiting: deque[Call[Any]] = deque()
        self._futures: dict[Call[Any], asyncio.Future[None]] = {}
        self._busy = False

    async def __call__(self, call: Call[T]) -> T:
        """Return the outcome of a call, or raise it."""
        if len(self._waiting) >= MOST_WAITING:
            raise StoreUnavailableError("too many requests are waiting; try again later")
        loop = asyncio.get_running_loop()
        self._futures[call] = done = loop.create_future()
        self._waiting.append(call)
        if not self._busy:
            self._busy = True
            self._watch(loop)
        await done
        return call.result()

    def _watch(
        self, loop: asyncio.AbstractEventLoop, seen: int = 0, quiet: int = 0, turns: int = 0
    ) -> None:
        """Start a group once no call has come for some turns of the loop."""
        count = len(self._waiting)
        quiet = quiet + 1 if count == seen else 0
        if quiet == QUIET_TURNS or turns == MOST_TURNS or count >= MOST_TOGETHER:
            group = take(self._waiting, MOST_TOGETHER)
            running = loop.run_in_executor(self._thread, self._run, group)
            running.add_done_callback(lambda _: self._finish(loop, group))
        else:
            loop.call_soon(self._watch, loop, count, quiet, turns + 1)

    def _finish(self, loop: asyncio.AbstractEventLoop, group: list[Call[Any]]) -> None:
        for call in group:
            done = self._futures.pop(call)
            if not done.done():
                done.set_result(None)
        self._busy = bool(self._waiting)
        if self._busy:
            self._watch(loop)

    def close(self) -> None:
        """End the thread after what is under way."""
        self._thread.shutdown()


def add_decisions(app: FastAPI, queue: CallQueue, metrics: Metrics) -> None:
    """Add what programs call all the time; their calls go through ``queue``."""

    async def decided(requests: list[schemas.DecisionRequest]) -> list[schemas.DecisionAnswer]:
        made = await queue(DecisionCall([vars(request) for request in requests]))
        for decision in made:
            metrics.decisions.labels(decision.arm).inc()
        return [schemas.DecisionAnswer.model_construct(**decision._asdict()) for decision in made]

    async def recorded(reports: list[schemas.RewardReport]) -> list[str]:
        statuses = await queue(RewardCall([(report.decision, report.reward) for report in reports]))
        for status in statuses:
            metrics.rewards.labels(status).inc()
        return statuses

    @app.post("/v1/decisions", **schemas.described("decide", 409, 422, 503))
    async def decide(request: schemas.DecisionRequest) -> schemas.DecisionAnswer:
        """Choose an arm for a user; a new user needs no announcement."""
        return (await decided([request]))[0]

    @app.post("/v1/decisions/batch", **schemas.described("decide", 409, 422, 503))
    async def decide_many(batch: schemas.DecisionRequests) -> schemas.DecisionAnswers:
        """Choose an arm for each of up to 1,000 users: all, or none if one request is wrong."""
        return schemas.DecisionAnswers.model_construct(decisions=await decided(batch.requests))

    @app.post("/v1/rewards", **schemas.described("decide", 404, 409, 422, 503))
    async def record(report: schemas.RewardReport) -> schemas.RewardAnswer:
        """Count what a decision earned; late and repeated reports are fine, each counts once."""
        (status,) = await recorded([report])
        return schemas.RewardAnswer.model_construct(status=counted(report.decision, status))

    @app.post("/v1/rewards/batch", **schemas.described("decide", 422, 503))
    async def record_many(batch: schemas.RewardReports) -> schemas.RewardAnswers:
        """Count up to 1,000 rewards; each has a status of its own."""
        results = [
            schemas.RewardResult.model_construct(decision=report.decision, status=status)
            for report, status in zip(batch.rewards, await recorded(batch.rewards), strict=True)
        ]
        return schemas.RewardAnswers.model_construct(results=results)


class _Rest(PathConvertor):
    """The rest of a path, with slashes and newlines: a user's name may hold any character."""

    regex = "(?s:.*)"


register_url_convertor("rest", _Rest())

User = Annotated[
    schemas.User, Path(description="The user's name, percent-encoded.", examples=["u42"])
]


def add_admin(app: FastAPI, service: DecisionService) -> None:
    """Add what people ask for; it runs in threads, so that decisions need not wait for it."""

    @app.get("/v1/users/{user:rest}", **schemas.described("admin", 404, 422, 503))
    def explain(user: User) -> schemas.UserAnswer:
        """Say what is known of a user: plays, means, state posterior, and why which arm."""
        return schemas.UserAnswer.model_validate(service.explain(user))

    @app.delete("/v1/users/{user:rest}", **schemas.described("admin", 422, 503))
    def forget(user: User) -> schemas.ErasedAnswer:
        """Erase a user: statistics and decisions. Doing it twice is fine."""
        return schemas.ErasedAnswer(decisions=service.forget(user))

    kinds = schemas.described("admin", 422, 503, content=KINDS.values())

    @app.get("/v1/log", response_class=StreamingResponse, **kinds)
    def log(
        form: Annotated[
            Format, Query(alias="format", description="One JSON object a line, or Parquet.")
        ] = "ndjson",
        columns: Annotated[
            Columns,
            Query(description="obp: action, arm, reward, pscore of rewarded decisions."),
        ] = "log",
        after: Annotated[
            int, Query(ge=0, le=2**63 - 1, description="Only decisions numbered above this.")
        ] = 0,
    ) -> StreamingResponse:
        """Export all decisions, in the order in which they were stored."""
        parts = export(service.log(after), form, columns)
        first = next(parts, b"")  # so that a store that is away is noticed before the answer
        return StreamingResponse(chain([first], parts), media_type=KINDS[form])

    @app.get("/v1/activity", **schemas.described("admin", 422, 503))
    def activity(
        minutes: Annotated[int, Query(ge=1, le=KEEP_MINUTES)] = 60,
    ) -> schemas.ActivityAnswer:
        """Say what happened in the last minutes, by minute and arm."""
        return schemas.ActivityAnswer.model_validate(service.activity(minutes))

    @app.get("/v1/model", **schemas.described("admin", 503))
    def model() -> schemas.ModelAnswer:
        """Show the model that decides now."""
        service.ready()
        return schemas.ModelAnswer.model_validate(describe(service.model, service.policy))

    @app.put("/v1/model", **schemas.described("admin", 422, 503))
    def put_model(body: schemas.ModelBody) -> schemas.ModelName:
        """Serve another policy from now on; other processes follow within a second."""
        return schemas.ModelName(model=service.put_model(as_policy(body.policy)))


def add_health(app: FastAPI, service: DecisionService, metrics: Metrics) -> None:
    """Add what those who watch over processes ask for."""

    @app.get("/healthz", **schemas.described("health"))
    async def healthz() -> schemas.Health:
        """Say that the process lives."""
        return schemas.Health(status="ok")

    @app.get("/readyz", **schemas.described("health", 503))
    def readyz() -> schemas.Readiness:
        """Say whether decisions can be made: a model is loaded and the store answers."""
        service.ready()
        return schemas.Readiness(status="ready", model=service.model)

    kind = schemas.described("health", content=[CONTENT_TYPE_LATEST])

    @app.get("/metrics", response_class=Response, **kind)
    def numbers() -> Response:
        """Count requests, decisions and rewards, for Prometheus."""
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)


PAGE = {"/": "page.html"} | {f"/static/{f}": f for f in ("page.css", "page.js", "charts.js")}
"""The files of the page by their paths. None holds data, so none needs a key."""

MEDIA = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
    "Referrer-Policy": "no-referrer",
}
"""The browser loads our files, asks our server, and does nothing else."""


def add_page(app: FastAPI) -> None:
    """Add the files of the page at ``/``, which asks the routes above for its data."""
    for path, name in PAGE.items():
        app.get(path, include_in_schema=False, response_class=Response)(_sent(name))


def _sent(name: str) -> Callable[[], Awaitable[Response]]:
    body = files("lobandits.service").joinpath("static", name).read_bytes()
    kind = MEDIA[name.rpartition(".")[2]]

    async def answer() -> Response:
        return Response(body, headers=HEADERS, media_type=kind)

    return answer
