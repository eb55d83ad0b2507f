"""The routes of the HTTP interface, and the numbers that it counts for Prometheus."""

import os
from collections.abc import Awaitable, Callable
from importlib.resources import files
from itertools import chain
from typing import Annotated

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

from lobandits.service import schemas
from lobandits.service.calls import DecisionCall, RewardCall
from lobandits.service.decisions import KEEP_MINUTES, DecisionService
from lobandits.service.model import as_policy
from lobandits.service.queue import CallQueue
from lobandits.service.reports import KINDS, Columns, Format, describe, export
from lobandits.service.settings import PAGE
from lobandits.service.work import counted

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # through it, processes add up their numbers
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters of a server."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("lob_requests", "Requests answered.", labels, registry=registry)
        self.seconds = Histogram(
            "lob_request_seconds", "Time to answer.", ["route"], buckets=SECONDS, registry=registry
        )
        self.decisions = Counter("lob_decisions", "Decisions made.", ["arm"], registry=registry)
        self.rewards = Counter(
            "lob_rewards", "Rewards answered, by status.", ["status"], registry=registry
        )

    def text(self) -> bytes:
        """Return all numbers in Prometheus' text format; with a folder, of all processes."""
        if FOLDER not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)


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


MEDIA = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
RULES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
"""The browser loads our files, asks our server, and does nothing else."""

HEADERS = {"Content-Security-Policy": RULES, "Referrer-Policy": "no-referrer"}


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
