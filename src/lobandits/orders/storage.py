"""Orders as JSON that a person can read and write: the chains of each state, by arm names.

``{"format": "lobandits.orders", "version": 1, "arms": ["a", "b", "c"], "states":
[[["b", "a"]]]}`` holds one state in which b stands above a, and c is free.
"""

import reprlib
from itertools import pairwise
from typing import Any

import numpy as np

from lobandits._checks import BoolArray
from lobandits._files import HEADER, check_versioned
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_index, arm_names
from lobandits.orders.parse import close

FORMAT = "lobandits.orders"
MODEL_FORMAT = "lobandits.model"  # such files hold orders under the field "orders"
VERSION = 1
FIELDS = ("arms", "states")


def decode(data: Any, source: str) -> tuple[BoolArray, tuple[str, ...]]:
    """Return closures and arm names, or say which field of ``source`` is wrong."""
    if isinstance(data, dict) and data.get("format") == MODEL_FORMAT:
        data, source = data.get("orders"), f"{source}: orders"
    data = check_versioned(data, source, FORMAT, VERSION, FIELDS, "orders")
    unknown = [field for field in data if field not in (*HEADER, *FIELDS)]
    if unknown:
        known = ", ".join((*HEADER, *FIELDS))
        raise LobInputError(f"{source}: unknown field {unknown[0]!r}; known: {known}")
    names = _list(data["arms"], f"{source}: arms")
    states = _list(data["states"], f"{source}: states")
    try:
        arms = arm_names(len(names), names)
    except LobInputError as error:
        raise LobInputError(f"{source}: {error}") from None
    closed = [_decode_state(row, arms, f"{source}: states[{s}]") for s, row in enumerate(states)]
    return np.stack(closed), arms


def _decode_state(chains: Any, arms: tuple[str, ...], where: str) -> BoolArray:
    edges = np.zeros((len(arms), len(arms)), dtype=np.bool_)
    if not isinstance(chains, list):
        raise LobInputError(f"{where} must be a list of chains of arms, got {reprlib.repr(chains)}")
    for i, chain in enumerate(chains):
        at = f"{where}[{i}]"
        for j, name in enumerate(_list(chain, at)):
            if not isinstance(name, str):
                raise LobInputError(f"{at}[{j}] is {name!r}; arms are given by their names")
        path = [arm_index(arms, name, f"{at}[{j}]: ") for j, name in enumerate(chain)]
        if any(a == b for a, b in pairwise(path)):
            raise LobInputError(f"{at} puts an arm above itself: {' > '.join(chain)}")
        edges[path[:-1], path[1:]] = True
    return close(edges, arms, where)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise LobInputError(f"{where} must be a list that is not empty, got {reprlib.repr(value)}")
    return value
