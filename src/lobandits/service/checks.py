"""What the service takes: users, ids, arms and rewards, checked before anything is written."""

import math
import os
import re
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from lobandits.policies.state import LARGEST
from lobandits.service.errors import InvalidRequestError, UnknownDecisionError

MOST_CHARACTERS = 256
MOST_ALLOWED = 10_000
ID = re.compile(r"[0-9a-f]{32}")


def check_user(user: Any) -> str:
    """Return a user's name: any text of 1 to 256 characters without NUL."""
    if not isinstance(user, str):
        raise InvalidRequestError("user", f"a user must be a string, got {type(user).__name__}")
    if not 1 <= len(user) <= MOST_CHARACTERS:
        raise InvalidRequestError(
            "user", f"a user must have 1 to {MOST_CHARACTERS} characters, got {len(user)}"
        )
    if not user.isascii():
        try:
            user.encode()
        except UnicodeEncodeError:
            raise InvalidRequestError("user", "a user must be valid Unicode text") from None
    if "\0" in user:
        raise InvalidRequestError("user", "a user must not contain the character NUL")
    return user


def check_id(value: Any) -> bytes:
    """Return a new decision's id, 32 hexadecimal digits, as 16 bytes."""
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise InvalidRequestError(
            "id", "an id must be 32 hexadecimal digits in lower case, as new_id() makes them"
        )
    return bytes.fromhex(value)


def check_decision(value: Any) -> bytes:
    """Return a decision's id as 16 bytes; what cannot be one is unknown."""
    if not isinstance(value, str):
        raise InvalidRequestError(
            "decision", f"a decision is named by its id, got {type(value).__name__}"
        )
    if not ID.fullmatch(value):
        raise UnknownDecisionError(f"unknown decision {value[:40]!r}")
    return bytes.fromhex(value)


def check_allowed(allowed: Any) -> tuple[str, ...] | None:
    """Return the names of the allowed arms, or None for all."""
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


def check_reward(reward: Any) -> float:
    """Return a reward as a finite float of at most 1e40."""
    if isinstance(reward, bool | str | bytes):
        raise InvalidRequestError("reward", f"a reward must be a number, got {reward!r:.40}")
    try:
        value = float(reward)
    except (TypeError, ValueError, OverflowError):
        raise InvalidRequestError("reward", "a reward must be a finite number") from None
    if not math.fabs(value) <= LARGEST:
        raise InvalidRequestError(
            "reward", f"a reward must be a finite number of at most {LARGEST:g}, got {value!r}"
        )
    return value


def new_ids(count: int) -> list[bytes]:
    """Return fresh ids: 48 bits of milliseconds, then 74 random bits (UUID version 7)."""
    bits = np.frombuffer(os.urandom(16 * count), np.uint8).reshape(count, 16).copy()
    stamp = (time.time_ns() // 1_000_000).to_bytes(6, "big")
    bits[:, :6] = np.frombuffer(stamp, np.uint8)
    bits[:, 6] = 0x70 | (bits[:, 6] & 0x0F)
    bits[:, 8] = 0x80 | (bits[:, 8] & 0x3F)
    raw = bits.tobytes()
    return [raw[i : i + 16] for i in range(0, len(raw), 16)]


def new_id() -> str:
    """Return a fresh id for a decision; a call that repeats it decides once.

    Examples
    --------
    >>> len(new_id()), new_id() == new_id()
    (32, False)
    """
    return new_ids(1)[0].hex()
