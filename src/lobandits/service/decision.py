"""Decisions and their ids, and what users, problems, contexts and allowed arms may be.

An id is 16 bytes in the store, and 32 hexadecimal digits outside.
"""

import os
import re
import time
from collections.abc import Iterable
from operator import index
from typing import Any, NamedTuple

from lobandits.service.errors import InvalidRequestError, UnknownDecisionError

ID = re.compile(r"[0-9a-f]{32}")
PROBLEM = re.compile(r"[A-Za-z0-9._-]{1,64}")
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

    They begin with the time and come in order, so that an index of them grows at one end.
    """
    ids = bytearray(os.urandom(16 * count))
    for place, byte in enumerate((time.time_ns() // 1_000_000).to_bytes(6)):
        ids[place::16] = bytes([byte]) * count
    ids[6::16] = ids[6::16].translate(VERSION_7)
    ids[8::16] = ids[8::16].translate(VARIANT_2)
    joined = bytes(ids)
    return sorted(joined[i : i + 16] for i in range(0, 16 * count, 16))


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


MOST_CHARACTERS = 256
MOST_ALLOWED = 10_000
LARGEST_NUMBER = 2**63  # of a user that is a number


def check_user(user: Any) -> str:
    """Return a user's name: any text of 1 to 256 characters without NUL; 42 is taken as "42"."""
    return check_name("user", user)


def check_name(noun: str, name: Any) -> str:
    """Return a name that a caller gives to something, whole numbers as text."""
    if not isinstance(name, str):
        whole = hasattr(name, "__index__") and not isinstance(name, bool)
        if whole and abs(name) < LARGEST_NUMBER:
            return str(index(name))
        raise InvalidRequestError(noun, f"{_a(noun)} must be a string, got {type(name).__name__}")
    if not 1 <= len(name) <= MOST_CHARACTERS:
        raise InvalidRequestError(
            noun, f"{_a(noun)} must have 1 to {MOST_CHARACTERS} characters, got {len(name)}"
        )
    try:
        _ = name.isascii() or name.encode()
    except UnicodeEncodeError:
        raise InvalidRequestError(noun, f"{_a(noun)} must be valid Unicode text") from None
    if "\0" in name:
        raise InvalidRequestError(noun, f"{_a(noun)} must not contain the character NUL")
    return name


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"


def check_problem(problem: Any) -> str | None:
    """Return the name of a problem; None stands for the usual one."""
    if problem is None:
        return None
    if not isinstance(problem, str) or not PROBLEM.fullmatch(problem):
        raise InvalidRequestError(
            "problem",
            "a problem is named by 1 to 64 letters, digits, dots, hyphens and underscores, got "
            f"{problem!r:.80}",
        )
    return problem


def check_context(context: Any) -> str | None:
    """Return the name of a context; None stands for none."""
    if context is not None and not (isinstance(context, str) and len(context) <= MOST_CHARACTERS):
        raise InvalidRequestError(
            "context", f"a context must be a string of at most {MOST_CHARACTERS} characters"
        )
    return context


def check_shown(shown: Any) -> str | None:
    """Return the name of the arm that a caller shows by itself; None stands for none."""
    if shown is not None and not isinstance(shown, str):
        raise InvalidRequestError("shown", f"an arm is a string, got {type(shown).__name__}")
    return shown


def check_allowed(allowed: Any) -> tuple[str, ...] | None:
    """Return the names of allowed arms; None stands for all."""
    if allowed is None:
        return None
    if isinstance(allowed, str) or not isinstance(allowed, Iterable):
        raise InvalidRequestError("allowed", "allowed must be a list of arms")
    names = tuple(allowed)
    if not names or len(names) > MOST_ALLOWED:
        raise InvalidRequestError(
            "allowed", f"allowed must name 1 to {MOST_ALLOWED} arms, got {len(names)}"
        )
    if not all(isinstance(name, str) for name in names):
        raise InvalidRequestError("allowed", "allowed must name arms by strings")
    return names
