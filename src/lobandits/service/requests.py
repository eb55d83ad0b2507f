"""What callers ask, decisions and the counting of rewards: the same models over HTTP and in Python.

Each kind of value says in one sentence what it must be; that is the message where it is not.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from lobandits.errors import LobInputError
from lobandits.service.errors import InvalidRequestError
from lobandits.statistics.rewards import LARGEST

MOST_CHARACTERS = 256
MOST_ALLOWED = 10_000
MOST_FEATURES = 100
LARGEST_NUMBER = 2**63  # of a user that is a number
LONGEST_TEXT = 100_000  # of other values; a limit also lets pydantic refuse half a surrogate pair
LATEST = 253_402_300_799  # seconds: the end of the year 9999
EXAMPLE = "0190a6e2c3f17d0e8b1d5a3f0d6e9c42"
WRONG = "wrong"  # how pydantic calls a value that is refused in our words
PROBLEM = r"^[A-Za-z0-9._-]{1,64}$"


@dataclass(frozen=True)
class Must:
    """What a value must ``be``, in words that refuse all others.

    ``takes`` is what a caller may give, numbers of numpy included, and ``make`` changes it then.
    """

    be: str
    takes: Any
    make: Callable[[Any], Any] | None = None

    def __get_pydantic_core_schema__(self, kind: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        taken = handler.generate_schema(self.takes)
        return core_schema.no_info_wrap_validator_function(self.check, taken)

    def check(self, value: Any, handler: Callable[[Any], Any]) -> Any:
        """Return what is taken, or refuse it."""
        plain = value.item() if isinstance(value, np.generic) else value
        try:
            checked = handler(plain)
            return checked if self.make is None else self.make(checked)
        except ValueError:
            values = {"be": self.be, "got": _shown(plain)}
            raise PydanticCustomError(WRONG, "{be}, got {got}", values) from None


def _shown(value: Any) -> str:
    """Return a value in few words."""
    if isinstance(value, str):
        return f"{value!r}" if len(value) <= 40 else f"{len(value):,} characters"
    if isinstance(value, list | tuple | set | dict):
        return f"{len(value):,} values"
    short = value is None or isinstance(value, bool | float)
    return f"{value!r}" if short else type(value).__name__


def _microseconds(time: Any) -> int:
    """Return seconds since 1970, ISO 8601 text or a date in microseconds."""
    if isinstance(time, str):
        time = datetime.fromisoformat(time)
    if isinstance(time, datetime):
        time = time.replace(tzinfo=time.tzinfo or UTC).timestamp()
    if not math.fabs(time) <= LATEST:
        raise ValueError
    return round(float(time) * 1e6)


Text = Annotated[str, Field(strict=True, max_length=LONGEST_TEXT)]
Name = Annotated[
    str, Field(strict=True, min_length=1, max_length=MOST_CHARACTERS, pattern=r"^[^\x00]*$")
]
Whole = Annotated[int, Field(strict=True, gt=-LARGEST_NUMBER, lt=LARGEST_NUMBER)]
Finite = Annotated[float, Field(strict=True, ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Flag = Annotated[bool, Field(strict=True)]
Seconds = Annotated[float, Field(strict=True)]

UserName = Annotated[str, Must("a user must be text of 1 to 256 characters without NUL", Name)]
User = Annotated[
    str,
    Must(
        "a user must be text of 1 to 256 characters without NUL, or a whole number",
        Name | Whole,
        str,
    ),
]
Arm = Annotated[str, Must("an arm must be named by text", Text)]
Allowed = Annotated[
    list[str],
    Must(
        "allowed must be a list of 1 to 10,000 names of arms",
        Annotated[list[Text], Field(min_length=1, max_length=MOST_ALLOWED)],
    ),
]
Value = Annotated[
    Text | Whole | Finite | Flag | None, Field(description="Text, a number, true, false or null.")
]
Features = Annotated[
    dict[str, Any],
    Must(
        "features must be text, numbers, true, false or null by up to 100 names",
        Annotated[dict[Name, Value], Field(max_length=MOST_FEATURES)],
    ),
]
Context = Annotated[
    str,
    Must(
        "a context must be text of 1 to 256 characters",
        Annotated[str, Field(strict=True, min_length=1, max_length=MOST_CHARACTERS)],
    ),
]
Problem = Annotated[
    str,
    Must(
        "a problem is named by 1 to 64 letters, digits, dots, hyphens and underscores",
        Annotated[str, Field(strict=True, pattern=PROBLEM)],
    ),
]
Id = Annotated[
    bytes,
    Must(
        "an id must be 32 hexadecimal digits in lower case, as new_id() makes them",
        Annotated[str, Field(strict=True, pattern="^[0-9a-f]{32}$", examples=[EXAMPLE])],
        bytes.fromhex,
    ),
]
RowId = Annotated[
    str, Must("an id must be text of 1 to 256 characters, or a whole number", Name | Whole, str)
]
DecisionId = Annotated[str, Must("a decision is named by its id, a text", Text)]
Reward = Annotated[  # true is 1, false is 0
    float, Must(f"a reward must be a finite number of at most {LARGEST:g}", Finite | Flag, float)
]
Time = Annotated[
    int,
    Must(
        "a time must be seconds since 1970, or text such as 2026-01-31",
        Seconds | Text | SkipJsonSchema[Annotated[datetime, Field(strict=True)]],
        _microseconds,
    ),
]


class Body(BaseModel):
    """What is asked; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class DecisionRequest(Body):
    """A user for whom an arm is to be chosen."""

    user: User = Field(examples=["u42"])
    allowed: Allowed | None = Field(
        default=None,
        description="The arms to choose from; by default all of the model.",
        examples=[["drama", "comedy"]],
    )
    id: Id | None = Field(
        default=None, description="An id of your own: asked again, the answer is the same decision."
    )
    context: Context | None = Field(
        default=None,
        description="Choose among the arms of a context, named without it.",
        examples=[None],
    )
    problem: Problem | None = Field(
        default=None, description="Choose among the arms of a problem.", examples=[None]
    )
    features: Features | None = Field(
        default=None,
        description="What is known of the user; it is kept, and the newest of each name counts.",
        examples=[None],
    )


class ShownRequest(DecisionRequest):
    """The same in Python, where the caller may show an arm of its own choice."""

    shown: Arm | None = None


class RewardReport(Body):
    """What a decision earned."""

    decision: DecisionId = Field(examples=[EXAMPLE])
    reward: Reward = Field(examples=[4.5])


class PastReward(Body):
    """A reward of the time before the service; its time is in microseconds since 1970."""

    id: RowId = Field(description="Yours; by it a reward counts once.", examples=["row 1"])
    user: User = Field(examples=["u42"])
    arm: Arm = Field(examples=["drama"])
    reward: Reward = Field(examples=[4.5])
    time: Time | None = Field(
        default=None,
        description="Seconds since 1970 or ISO 8601; by default now.",
        examples=["2026-01-31"],
    )


B = TypeVar("B", bound=Body)


def read(kind: type[B], items: Any, short: tuple[str, ...] = ()) -> list[B]:
    """Return what a list asks: mappings, or in short a value of each of the fields ``short``."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise LobInputError(f"{_noun(kind)}s must be a list, got {type(items).__name__}")
    rows = [item if type(item) is dict else _row(item, short) for item in items]
    try:
        asked: list[B] = _adapter(list[kind]).validate_python(rows)  # type: ignore[valid-type]
        return asked
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == WRONG:
            raise _refused(error, str(first["loc"][1])) from None
        fields, wrong = ", ".join(kind.model_fields), rows[int(first["loc"][0])]
        raise LobInputError(
            f"a {_noun(kind)} must have the fields {fields}, got {wrong!r:.80}"
        ) from None


def _row(item: Any, short: tuple[str, ...]) -> Any:
    """Return the fields of an item; one that has none is refused later."""
    if isinstance(item, Mapping):
        return dict(item)
    if len(short) == 1:
        return {short[0]: item}
    whole = isinstance(item, tuple) and len(item) == len(short)
    return dict(zip(short, item, strict=True)) if whole else item


def _noun(kind: type[Body]) -> str:
    return {RewardReport: "reward", PastReward: "past reward"}.get(kind, "request")


def checked(name: str, kind: Any, value: Any) -> Any:
    """Return a value of a kind that is no part of a request, such as `User`."""
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        raise _refused(error, name) from None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _refused(error: ValidationError, value: str) -> InvalidRequestError:
    return InvalidRequestError(value, error.errors()[0]["msg"])
