"""The routes of the HTTP interface, by whom they are for, and the page at ``/``."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from itertools import chain
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from pydantic.json_schema import SkipJsonSchema
from starlette.convertors import PathConvertor, register_url_convertor

from lobandits.service.call_queue import Call, DecisionCall, PastCall, RewardCall
from lobandits.service.decision_service import DecisionService
from lobandits.service.errors import ForbiddenError
from lobandits.service.http.bodies import (
    ActivityAnswer,
    ComparisonAnswer,
    DecisionAnswer,
    DecisionAnswers,
    DecisionRequests,
    ErasedAnswer,
    Health,
    ModelAnswer,
    ModelBody,
    ModelName,
    PastAnswers,
    PastResult,
    PastRewards,
    ProblemsAnswer,
    Readiness,
    RewardAnswer,
    RewardAnswers,
    RewardReports,
    RewardResult,
    UserAnswer,
    apprentice_bodies,
    described,
)
from lobandits.service.http.metrics import Metrics, StoreNumbers
from lobandits.service.observers.activity import KEPT_MINUTES
from lobandits.service.reports.log import KINDS, Columns, Format, export, exported
from lobandits.service.requests import (
    Context,
    DecisionRequest,
    Problem,
    RewardReport,
    UserName,
)
from lobandits.service.rewarding import counted
from lobandits.service.served_policy import as_policy

LIMITS = "lobandits.problems"  # in a request's scope: the only problems that its key is for
Handler = TypeVar("Handler", bound=Callable[..., Any])
Answer = Callable[[Call[Any]], Awaitable[Any]]  # CallQueue.answer
Silent = Callable[[dict[str, Any], str | None], list[str]]


def takes(**bodies: type[BaseModel]) -> Callable[[Handler], Handler]:
    """Let a handler take more special bodies than those that it names."""

    def change(handler: Handler) -> Handler:
        handler.__annotations__.update(bodies)
        return handler

    return change


def add_decisions(
    app: FastAPI,
    answer: Answer,
    metrics: Metrics,
    usual: str,
    apprentice: str | None = None,
    silent: Silent | None = None,
) -> None:
    """Add what programs call all the time; ``answer`` waits for the outcomes of calls.

    The problem ``usual`` is meant where none is named. In the field ``apprentice``, requests say
    which arm is shown anyway. ``silent`` tells which features say nothing, for a metric.
    """
    usual_bodies = DecisionRequest, DecisionRequests
    one, many = apprentice_bodies(apprentice) if apprentice else usual_bodies

    async def decided(http: Request, requests: list[DecisionRequest]) -> list[DecisionAnswer]:
        limits = http.scope.get(LIMITS)
        if limits is not None and not limits.issuperset(r.problem or usual for r in requests):
            which = ", ".join(sorted(limits))
            raise ForbiddenError(f"this key is for these problems only: {which}")
        made = await answer(DecisionCall(requests))
        for request, decision in zip(requests, made, strict=True):
            metrics.decisions.labels(request.problem or usual, decision.arm).inc()
            if request.features and silent is not None:
                for name in silent(request.features, request.problem):
                    metrics.silent.labels(request.problem or usual, name).inc()
        return [DecisionAnswer.model_construct(**decision._asdict()) for decision in made]

    async def recorded(http: Request, reports: list[RewardReport]) -> list[str]:
        statuses: list[str] = await answer(RewardCall(reports, problems=http.scope.get(LIMITS)))
        for status in statuses:
            metrics.rewards.labels(status).inc()
        return statuses

    @app.post("/v1/decisions", **described("decide", 404, 409, 422, 503))
    @takes(request=one)
    async def decide(http: Request, request: DecisionRequest) -> DecisionAnswer:
        """Choose an arm for a user; a new user needs no announcement."""
        return (await decided(http, [request]))[0]

    @app.post("/v1/decisions/batch", **described("decide", 404, 409, 422, 503))
    @takes(batch=many)
    async def decide_many(http: Request, batch: DecisionRequests) -> DecisionAnswers:
        """Choose an arm for each of up to 1,000 users: all, or none if one request is wrong."""
        return DecisionAnswers.model_construct(decisions=await decided(http, batch.requests))

    @app.post("/v1/rewards", **described("decide", 404, 409, 422, 503))
    async def record(http: Request, report: RewardReport) -> RewardAnswer:
        """Count what a decision earned; late and repeated reports are fine, each counts once."""
        (status,) = await recorded(http, [report])
        return RewardAnswer.model_construct(status=counted(report.decision, status))

    @app.post("/v1/rewards/batch", **described("decide", 422, 503))
    async def record_many(http: Request, batch: RewardReports) -> RewardAnswers:
        """Count up to 1,000 rewards; each has a status of its own."""
        statuses = await recorded(http, batch.rewards)
        results = [
            RewardResult.model_construct(decision=report.decision, status=status)
            for report, status in zip(batch.rewards, statuses, strict=True)
        ]
        return RewardAnswers.model_construct(results=results)


class RestOfPath(PathConvertor):
    """The rest of a path, with slashes and newlines: a user's name may hold any character."""

    regex = "(?s:.*)"


register_url_convertor("rest", RestOfPath())

User = Annotated[UserName, Path(description="The user's name, percent-encoded.", examples=["u42"])]
Of = Annotated[
    Problem | SkipJsonSchema[None],  # left out, but never empty
    Query(description="The problem; by default the server's own."),
]


def add_admin(app: FastAPI, service: DecisionService) -> None:
    """Add what people ask for; it runs in threads, so that decisions need not wait for it."""

    @app.get(
        "/v1/users/{user:rest}",
        response_model_exclude_unset=True,
        **described("admin", 404, 422, 503),
    )
    def explain(
        user: User,
        context: Annotated[
            Context | None, Query(description="Say why which arm of a context.")
        ] = None,
        problem: Of = None,
    ) -> UserAnswer:
        """Say what is known of a user: plays, means, state posterior, and why which arm."""
        return UserAnswer.model_validate(service.explain(user, context, problem))

    @app.delete("/v1/users/{user:rest}", **described("admin", 422, 503))
    def forget(user: User) -> ErasedAnswer:
        """Erase a user: statistics and decisions of all problems. Doing it twice is fine."""
        return ErasedAnswer(decisions=service.forget(user))

    kinds = described("admin", 404, 422, 503, content=KINDS.values())

    @app.get("/v1/log", response_class=StreamingResponse, **kinds)
    def log(
        form: Annotated[
            Format, Query(alias="format", description="One JSON object a line, CSV, or Parquet.")
        ] = "ndjson",
        columns: Annotated[
            Columns,
            Query(description="obp: user, action, arm, reward, pscore of rewarded decisions."),
        ] = "log",
        after: Annotated[
            int, Query(ge=0, le=2**63 - 1, description="Only decisions numbered above this.")
        ] = 0,
        problem: Of = None,
    ) -> StreamingResponse:
        """Export all decisions of a problem, in the order in which they were stored."""
        rows = exported(service.log(after, problem=problem), columns)
        parts = export(rows, form, columns)
        first = next(parts, b"")  # so that a store that is away is noticed before the answer
        return StreamingResponse(chain([first], parts), media_type=KINDS[form])

    @app.get("/v1/activity", **described("admin", 404, 422, 503))
    def activity(
        minutes: Annotated[int, Query(ge=1, le=KEPT_MINUTES)] = 60, problem: Of = None
    ) -> ActivityAnswer:
        """Say what happened in the last minutes, by minute and arm."""
        return ActivityAnswer.model_validate(service.activity(minutes, problem=problem))

    @app.get("/v1/comparison", **described("admin", 404, 422, 503))
    def comparison(problem: Of = None) -> ComparisonAnswer:
        """Compare the model's users with the control group's, and advice with what was shown."""
        return ComparisonAnswer.model_validate(service.comparison(problem))


def add_history(app: FastAPI, answer: Answer) -> None:
    """Add what brings in rewards of the time before the service."""

    @app.post("/v1/history", **described("admin", 404, 422, 503))
    async def history(batch: PastRewards, problem: Of = None) -> PastAnswers:
        """Count up to 1,000 rewards without decisions, each once: all, or none if one is wrong."""
        statuses = await answer(PastCall(batch.rewards, problem))
        results = [
            PastResult.model_construct(id=reward.id, status=status)
            for reward, status in zip(batch.rewards, statuses, strict=True)
        ]
        return PastAnswers.model_construct(results=results)


def add_models(app: FastAPI, service: DecisionService) -> None:
    """Add what shows and replaces the models of problems."""

    @app.get("/v1/problems", **described("admin", 503))
    def problems() -> ProblemsAnswer:
        """Show the model that decides now in each problem."""
        service.ready()
        return ProblemsAnswer(problems=service.problems)

    @app.get("/v1/model", **described("admin", 404, 422, 503))
    def model(problem: Of = None) -> ModelAnswer:
        """Show the model that decides now."""
        service.ready()
        return ModelAnswer.of(*service.served(problem))

    @app.put("/v1/model", **described("admin", 422, 503))
    def put_model(body: ModelBody, problem: Of = None) -> ModelName:
        """Serve another policy from now on; other processes follow within a second."""
        return ModelName(model=service.put_model(as_policy(body.policy), problem))

    @app.post("/v1/model/rollback", **described("admin", 409, 422, 503))
    def rollback(problem: Of = None) -> ModelName:
        """Serve the model before the newest; other processes follow within a second."""
        return ModelName(model=service.rollback(problem))


def add_health(app: FastAPI, service: DecisionService, metrics: Metrics) -> None:
    """Add what those who watch over processes ask for."""
    stored = StoreNumbers(service)

    @app.get("/healthz", **described("health"))
    async def healthz() -> Health:
        """Say that the process lives."""
        return Health(status="ok")

    own = ThreadPoolExecutor(2, "lob-health")  # so that nobody else's work delays the answer

    @app.get("/readyz", **described("health", 503))
    async def readyz() -> Readiness:
        """Say whether decisions can be made: a model is loaded and the store can be written."""
        await asyncio.get_running_loop().run_in_executor(own, service.ready)
        return Readiness(status="ready", model=service.model, unreadable=service.unreadable)

    kind = described("health", content=[CONTENT_TYPE_LATEST])

    @app.get("/metrics", response_class=Response, **kind)
    def numbers() -> Response:
        """Count requests, decisions and rewards, for Prometheus."""
        return Response(metrics.text() + stored.text(), media_type=CONTENT_TYPE_LATEST)


PAGE = {"/": "page.html"} | {
    f"/static/{f}": f for f in ("page.css", "page.js", "charts.js", "health.js")
}
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
    body = files("lobandits.service.http").joinpath("static", name).read_bytes()
    kind = MEDIA[name.rpartition(".")[2]]

    async def answer() -> Response:
        return Response(body, headers=HEADERS, media_type=kind)

    return answer
