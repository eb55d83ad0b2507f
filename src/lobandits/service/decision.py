"""What a service answers, and the ids by which decisions are known.

An id is 16 bytes in the store, and 32 hexadecimal digits outside.
"""

import os
import re
import time
from typing import Any, NamedTuple

from lobandits.service.errors import InvalidRequestError, UnknownDecisionError

ID = re.compile(r"[0-9a-f]{32}")
VERSION_7 = bytes(0x70 | byte & 0x0F for byte in range(256))  # what each byte becomes
VARIANT_2 = bytes(0x80 | byte & 0x3F for byte in range(256))


class Decision(NamedTuple):
    """An arm for a user.

    Attributes
    ----------
    id : str
        What a reward refers to.
    arm : str
        The arm to play.
    probability : float
        The chance that the arm had: the propensity that off-policy estimates need.
    model : str
        The model that decided.

    Examples
    --------
    >>> Decision("018f3a", "drama", 0.25, "1-4f2d").probability
    0.25
    """

    id: str
    arm: str
    probability: float
    model: str


def new_ids(count: int) -> list[bytes]:
    """Return fresh ids: 48 bits of milliseconds, then 74 random bits (UUID version 7).

    They begin with the time, so that an index of them grows at one end.
    """
    ids = bytearray(os.urandom(16 * count))
    for place, byte in enumerate((time.time_ns() // 1_000_000).to_bytes(6)):
        ids[place::16] = bytes([byte]) * count
    ids[6::16] = ids[6::16].translate(VERSION_7)
    ids[8::16] = ids[8::16].translate(VARIANT_2)
    joined = bytes(ids)
    return [joined[i : i + 16] for i in range(0, 16 * count, 16)]


def new_id() -> str:
    """Return a fresh id for a decision; a call that repeats it decides once."""
    return new_ids(1)[0].hex()


def check_id(value: Any) -> bytes:
    """Return an id that a caller gives to a new decision, as bytes."""
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise InvalidRequestError(
            "id", "an id must be 32 hexadecimal digits in lower case, as new_id() makes them"
        )
    return bytes.fromhex(value)


def check_decision(value: Any) -> bytes:
    """Return the id of a decision that a caller speaks of; what cannot be one is unknown."""
    if not isinstance(value, str):
        raise InvalidRequestError(
            "decision", f"a decision is named by its id, got {type(value).__name__}"
        )
    if not ID.fullmatch(value):
        raise UnknownDecisionError(f"unknown decision {value[:40]!r}")
    return bytes.fromhex(value)
