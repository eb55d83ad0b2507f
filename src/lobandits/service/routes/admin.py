"""Users, the log, activity and the model: the routes of those who look after the service."""

from enum import Enum
from itertools import chain
from typing import Annotated

from fastapi import FastAPI, Path, Query
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import StreamingResponse

from lobandits.service.calls import MOST_CHARACTERS
from lobandits.service.decisions import DecisionService
from lobandits.service.export import KINDS, Columns, Format, export
from lobandits.service.model import as_policy
from lobandits.service.openapi import errors
from lobandits.service.reports import describe
from lobandits.service.schemas import (
    NO_NUL,
    ActivityAnswer,
    ErasedAnswer,
    ModelAnswer,
    ModelBody,
    ModelName,
    UserAnswer,
)

TAG: list[str | Enum] = ["admin"]
LONGEST = 30 * 24 * 60  # minutes that are kept


class _Rest(Convertor[str]):
    """The rest of a path, with slashes and newlines: a user's name may hold any character."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("rest", _Rest())

User = Annotated[
    str,
    Path(
        min_length=1,
        max_length=MOST_CHARACTERS,
        pattern=NO_NUL,
        description="The user's name, percent-encoded.",
        examples=["u42"],
    ),
]


def add_routes(app: FastAPI, service: DecisionService) -> None:
    """Add the routes; they run in threads, so that decisions need not wait for them."""

    @app.get("/v1/users/{user:rest}", tags=TAG, responses=errors(404, 422, 503))
    def explain(user: User) -> UserAnswer:
        """Say what is known of a user: plays, means, state posterior, and why which arm."""
        return UserAnswer.model_validate(service.explain(user))

    @app.delete("/v1/users/{user:rest}", tags=TAG, responses=errors(422, 503))
    def forget(user: User) -> ErasedAnswer:
        """Erase a user: statistics and decisions. Doing it twice is fine."""
        return ErasedAnswer(decisions=service.forget(user))

    @app.get(
        "/v1/log",
        tags=TAG,
        response_class=StreamingResponse,
        responses={**errors(422, 503), 200: {"content": {kind: {} for kind in KINDS.values()}}},
    )
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

    @app.get("/v1/activity", tags=TAG, responses=errors(422, 503))
    def activity(minutes: Annotated[int, Query(ge=1, le=LONGEST)] = 60) -> ActivityAnswer:
        """Say what happened in the last minutes, by minute and arm."""
        return ActivityAnswer.model_validate(service.activity(minutes))

    @app.get("/v1/model", tags=TAG, responses=errors(503))
    def model() -> ModelAnswer:
        """Show the model that decides now."""
        return ModelAnswer.model_validate(describe(service))

    @app.put("/v1/model", tags=TAG, responses=errors(422, 503))
    def put_model(body: ModelBody) -> ModelName:
        """Serve another policy from now on; other processes follow within a second."""
        return ModelName(model=service.put_model(as_policy(body.policy)))
