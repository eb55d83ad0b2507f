"""Orders as JSON that a person can read and write: the chains of each state, by arm names.

``{"format": "lobandits.orders", "version": 1, "arms": ["a", "b", "c"], "states":
[[["b", "a"]]]}`` holds one state in which b stands above a, and c is free.
"""

import reprlib
from itertools import pairwise
from typing import Any

import numpy as np

from lobandits.basics.checks import BoolArray
from lobandits.basics.files import HEADER, check_versioned
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_index, arm_names
from lobandits.orders.contexts import context_numbers
from lobandits.orders.parse import close, parse_means

FORMAT = "lobandits.orders"
MODEL_FORMAT = "lobandits.model"  # such files hold a prior, whose means have the orders
VERSION = 1
FIELDS = ("arms", "states")


def decode(data: Any, source: str) -> tuple[BoolArray, tuple[str, ...]]:
    """Return closures and arm names, or say which field of ``source`` is wrong."""
    if isinstance(data, dict) and data.get("format") == MODEL_FORMAT:
        return _decode_prior(data.get("prior"), f"{source}: prior")
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


def _decode_prior(prior: Any, source: str) -> tuple[BoolArray, tuple[str, ...]]:
    """Return the orders that a prior knows, or those of its states' means, within contexts."""
    if not isinstance(prior, dict) or "means" not in prior or "arms" not in prior:
        raise LobInputError(f"{source} must be an object with the fields arms and means")
    if prior.get("known") is not None:
        return decode(prior["known"], f"{source}: known")
    try:
        above = parse_means(prior["means"], ndim=2)
        arms = arm_names(above.shape[-1], _list(prior["arms"], "arms"))
    except LobInputError as error:
        raise LobInputError(f"{source}: {error}") from None
    numbers = context_numbers(arms)
    return (above if numbers is None else above & (numbers[:, None] == numbers)), arms


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
