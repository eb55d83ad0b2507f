"""Decisions and their ids.

An id is 16 bytes in the store, and 32 hexadecimal digits outside.
"""

import os
import re
import time
from typing import NamedTuple

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


def stored_id(text: str) -> bytes | None:
    """Return an id as it is stored; None for what no decision can be called."""
    return bytes.fromhex(text) if ID.fullmatch(text) else None
