"""The bodies of batches and of answers, and how OpenAPI describes the routes."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, create_model

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.beliefs import Prior
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.orders.contexts import arms_by_context
from lobandits.policies import Policy
from lobandits.service.requests import (
    EXAMPLE,
    Arm,
    Body,
    DecisionRequest,
    PastReward,
    RewardReport,
)

MAX_BATCH = 1_000


class PastRewards(Body):
    """Many past rewards at once."""

    rewards: list[PastReward] = Field(min_length=1, max_length=MAX_BATCH)


class DecisionRequests(Body):
    """Many users at once."""

    requests: list[DecisionRequest] = Field(min_length=1, max_length=MAX_BATCH)


def apprentice_bodies(field: str) -> tuple[type[DecisionRequest], type[DecisionRequests]]:
    """Return bodies in which ``field`` names the arm that the caller's own system shows."""
    if field in DecisionRequest.model_fields:
        raise LobInputError(f"the field of an apprentice cannot be {field!r}, which has a meaning")
    about = Field(alias=field, description="The arm that your own system shows to the user.")
    one = create_model("ShownRequest", __base__=DecisionRequest, shown=(Arm, about))
    many = Field(min_length=1, max_length=MAX_BATCH)
    return one, create_model(
        "ShownRequests",
        __base__=DecisionRequests,
        requests=(list[one], many),  # type: ignore[valid-type]
    )


class RewardReports(Body):
    """Many rewards at once."""

    rewards: list[RewardReport] = Field(min_length=1, max_length=MAX_BATCH)


class DecisionAnswer(BaseModel):
    """The arm to play."""

    id: str = Field(description="Name it when you report the reward.", examples=[EXAMPLE])
    arm: str = Field(examples=["drama"])
    probability: float = Field(description="The chance that this arm had.", examples=[0.62])
    model: str = Field(examples=["1-5a3f0d6e"])


class DecisionAnswers(BaseModel):
    """One decision for each request, in the same order."""

    decisions: list[DecisionAnswer]


class RewardAnswer(BaseModel):
    """What became of a reward."""

    status: Literal["recorded", "already recorded"]


class RewardResult(BaseModel):
    """What became of one of many rewards."""

    decision: str = Field(examples=[EXAMPLE])
    status: Literal["recorded", "already recorded", "unknown decision", "conflict", "expired"]


class RewardAnswers(BaseModel):
    """One result for each reward, in the same order."""

    results: list[RewardResult]


class PastResult(BaseModel):
    """What became of a past reward."""

    id: str
    status: Literal["recorded", "already recorded", "conflict"]


class PastAnswers(BaseModel):
    """One result for each past reward, in the same order."""

    results: list[PastResult]


class ArmStatistics(BaseModel):
    """What a user got from an arm."""

    plays: int
    mean: float | None = Field(description="None before the first reward.")
    recent: float | None = Field(None, description="What the plays weigh now, with a half-life.")


class UserAnswer(BaseModel):
    """What is known of a user, and why which arm."""

    user: str
    plays: int
    recent: float | None = Field(None, description="What the plays weigh now, with a half-life.")
    changed: bool | None = Field(None, description="Whether recent rewards alone decide.")
    features: dict[str, Any] = Field(description="What is known of the user besides.")
    arms: dict[str, ArmStatistics]
    model: str
    policy: str
    why: list[dict[str, Any]] = Field(description="What speaks for each arm.")
    states: list[dict[str, Any]] = Field(description="How likely each latent state is.")
    notes: list[str]
    group: str | None = Field(description="model or control, if there is a control group.")


class ErasedAnswer(BaseModel):
    """How much was erased."""

    decisions: int


class ActivityAnswer(BaseModel):
    """What happened lately: lists have one entry for each ``step`` minutes, usually for each."""

    model_config = ConfigDict(extra="allow")

    model: str
    minutes: list[str]
    step: int = Field(1, description="Above 1 where there are many minutes and arms.")
    decisions: list[int]
    rewards: list[int]
    arms: dict[str, dict[str, list[int | float | None]]]


class ComparisonAnswer(BaseModel):
    """How the model's users do against those of the control group; control is null without one."""

    model_config = ConfigDict(extra="allow")

    control: dict[str, Any] | None
    groups: dict[str, dict[str, int | float | None]] | None = None
    difference: dict[str, float | str | None] | None = None
    over_time: dict[str, list[str] | list[float | None]] | None = None
    assumption: str | None = None
    advice: dict[str, Any] | None = Field(description="What an apprentice would have changed.")


class ModelBody(Body):
    """A policy to serve."""

    policy: dict[str, Any] = Field(description="What Policy.to_dict returns.")


class ModelName(BaseModel):
    """The model that decides now."""

    model: str = Field(examples=["2-5a3f0d6e"])


class ProblemsAnswer(BaseModel):
    """The model that decides now in each problem."""

    problems: dict[str, str] = Field(examples=[{"default": "2-5a3f0d6e"}])


class ModelAnswer(ModelName):
    """The model that decides now, whole."""

    policy: str = Field(examples=["lobts"])
    arms: list[str]
    ranks: list[list[int]] | None = Field(description="Of each arm in each state, from 1.")
    shares: list[float] | None = Field(description="How common the states are, if that is known.")
    definition: dict[str, Any] = Field(description="The policy, as PUT takes it.")

    @classmethod
    def of(cls, name: str, policy: Policy) -> "ModelAnswer":
        """Return the answer; the rank of an arm is 1 plus the number of arms above it."""
        prior, orders = getattr(policy, "prior", None), getattr(policy, "orders", None)
        shares, ranks = getattr(prior or policy, "shares", None), None
        if isinstance(prior, Prior):
            orders, ranks = prior.known, ranks_of_means(prior.means, prior.arms)
        if isinstance(orders, LatentOrders):
            ranks = 1 + orders.precedes.sum(axis=1)
        return cls(
            model=name,
            policy=policy.name,
            arms=list(policy.arms),
            ranks=None if ranks is None else ranks.tolist(),
            shares=None if shares is None else np.asarray(shares).tolist(),
            definition=policy.to_dict(),
        )


def ranks_of_means(means: FloatArray, arms: tuple[str, ...]) -> IntArray:
    """Return 1 plus the number of arms of the same context with higher means, (m, k)."""
    ranks = np.empty(means.shape, np.int64)
    for some in arms_by_context(arms):
        for state, values in enumerate(-means[:, some]):
            ranks[state, some] = 1 + np.searchsorted(np.sort(values), values)
    return ranks


class Health(BaseModel):
    """The process lives."""

    status: Literal["ok"]


class Readiness(ModelName):
    """Decisions can be made and written."""

    status: Literal["ready"]
    unreadable: list[str] = Field(
        description="The newest models that cannot be read; older ones decide, the log says why."
    )


class ErrorBody(BaseModel):
    """Why a request was refused."""

    code: str = Field(description="For programs; it stays the same.", examples=["unknown_arm"])
    message: str = Field(description="For people.")


class ErrorAnswer(BaseModel):
    """The body of every answer that is not a success."""

    error: ErrorBody


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
MEANINGS = {
    401: "The key is missing or wrong.",
    403: "The key may not do this.",
    404: "There is no such decision, user or problem.",
    409: "The id or the decision is taken, or there is no model to go back to.",
    413: "The body is too large.",
    422: "A value is missing, unknown or wrong.",
    500: "Something unexpected; the server's log has more.",
    503: "The store does not answer now; try again after the seconds in Retry-After.",
}


def described(tag: str, *statuses: int, content: Iterable[str] = ()) -> dict[str, Any]:
    """Return how OpenAPI shows a route; ``content`` is that of a success that is not JSON."""
    answers: dict[int, dict[str, Any]] = {
        status: {"model": ErrorAnswer, "description": MEANINGS[status]}
        for status in (401, 403, 413, 500, *statuses)
    }
    if 503 in answers:
        seconds = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        answers[503]["headers"] = {"Retry-After": seconds}
    if content:
        answers[200] = {"content": {kind: {} for kind in content}}
    return {"tags": [tag], "responses": answers}
