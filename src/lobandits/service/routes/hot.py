"""Decisions and rewards: the routes that programs call all the time."""

from enum import Enum
from typing import Any

from fastapi import FastAPI

from lobandits.service.calls import DecisionCall, RewardCall
from lobandits.service.errors import (
    DecisionExpiredError,
    RewardConflictError,
    ServiceError,
    UnknownDecisionError,
)
from lobandits.service.metrics import Metrics
from lobandits.service.openapi import errors
from lobandits.service.queue import CallQueue
from lobandits.service.schemas import (
    DecisionAnswer,
    DecisionAnswers,
    DecisionRequest,
    DecisionRequests,
    RewardAnswer,
    RewardAnswers,
    RewardReport,
    RewardReports,
    RewardResult,
)
from lobandits.service.work import CONFLICT, EXPIRED, UNKNOWN

TAG: list[str | Enum] = ["decide"]
REFUSED: dict[str, tuple[type[ServiceError], str]] = {
    UNKNOWN: (UnknownDecisionError, "there is no decision with this id"),
    CONFLICT: (RewardConflictError, "the decision has another reward already; the first counts"),
    EXPIRED: (DecisionExpiredError, "too late: the decision was given the default reward"),
}


def add_routes(app: FastAPI, queue: CallQueue, metrics: Metrics) -> None:
    """Add the routes, whose calls go through ``queue``."""

    async def decided(requests: list[DecisionRequest]) -> list[DecisionAnswer]:
        made = await queue(DecisionCall([_plain(request) for request in requests]))
        for decision in made:
            metrics.decisions.labels(decision.arm).inc()
        return [DecisionAnswer.model_construct(**decision._asdict()) for decision in made]

    async def recorded(reports: list[RewardReport]) -> list[str]:
        statuses = await queue(RewardCall([(report.decision, report.reward) for report in reports]))
        for status in statuses:
            metrics.rewards.labels(status).inc()
        return statuses

    @app.post("/v1/decisions", tags=TAG, responses=errors(409, 422, 503))
    async def decide(request: DecisionRequest) -> DecisionAnswer:
        """Choose an arm for a user; a new user needs no announcement."""
        return (await decided([request]))[0]

    @app.post("/v1/decisions/batch", tags=TAG, responses=errors(409, 422, 503))
    async def decide_many(batch: DecisionRequests) -> DecisionAnswers:
        """Choose an arm for each of up to 1,000 users: all, or none if one request is wrong."""
        return DecisionAnswers.model_construct(decisions=await decided(batch.requests))

    @app.post("/v1/rewards", tags=TAG, responses=errors(404, 409, 422, 503))
    async def record(report: RewardReport) -> RewardAnswer:
        """Count what a decision earned; late and repeated reports are fine, each counts once."""
        (status,) = await recorded([report])
        if status in REFUSED:
            kind, message = REFUSED[status]
            raise kind(message)
        return RewardAnswer.model_construct(status=status)

    @app.post("/v1/rewards/batch", tags=TAG, responses=errors(422, 503))
    async def record_many(batch: RewardReports) -> RewardAnswers:
        """Count up to 1,000 rewards; each has a status of its own."""
        results = [
            RewardResult.model_construct(decision=report.decision, status=status)
            for report, status in zip(batch.rewards, await recorded(batch.rewards), strict=True)
        ]
        return RewardAnswers.model_construct(results=results)


def _plain(request: DecisionRequest) -> dict[str, Any]:
    return {"user": request.user, "allowed": request.allowed, "id": request.id}
