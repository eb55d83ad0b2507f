"""Orders as JSON: one line per state, chains of arm names, best first.

``{"format": "lobandits.orders", "version": 1, "arms": ["a", "b", "c"], "states": [[["b", "a"]]]}``
holds one state in which b stands above a, and c is free.
"""

import json
import os
import reprlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from lobandits._checks import BoolArray
from lobandits._files import write_atomic
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_index, arm_names, close
from lobandits.orders.tables import paths

FORMAT = "lobandits.orders"
MODEL_FORMAT = "lobandits.model"
"""Files of this format hold orders under the field "orders"."""
VERSION = 1
FIELDS = ("format", "version", "arms", "states")


def encode(precedes: BoolArray, arms: Sequence[str]) -> dict[str, Any]:
    """Return the closures (m, k, k) as plain data."""
    states = [[[arms[a] for a in path] for path in paths(state)] for state in precedes]
    return {"format": FORMAT, "version": VERSION, "arms": list(arms), "states": states}


def decode(data: Any, source: str) -> tuple[BoolArray, tuple[str, ...]]:
    """Return closures and arm names, or name the ``source`` and the field that is wrong."""
    if isinstance(data, dict) and data.get("format") == MODEL_FORMAT:
        data, source = data.get("orders"), f"{source}: orders"
    if not isinstance(data, dict):
        raise LobInputError(f"{source}: expected an object with the fields {', '.join(FIELDS)}")
    _check_header(data, source)
    names = _list(data["arms"], f"{source}: arms")
    states = _list(data["states"], f"{source}: states")
    try:
        arms = arm_names(len(names), names)
    except LobInputError as error:
        raise LobInputError(f"{source}: {error}") from None
    closed = [_decode_state(row, arms, f"{source}: states[{s}]") for s, row in enumerate(states)]
    return np.stack(closed), arms


def _check_header(data: dict[str, Any], source: str) -> None:
    if data.get("format", FORMAT) != FORMAT:
        raise LobInputError(f"{source}: format is {data['format']!r}; expected {FORMAT!r}")
    missing = [field for field in FIELDS if field not in data]
    if missing:
        raise LobInputError(f"{source}: the field {missing[0]!r} is missing")
    version = data["version"]
    if type(version) is not int or version < 1:
        raise LobInputError(f"{source}: version is {version!r}; expected the number {VERSION}")
    if version > VERSION:
        raise LobInputError(
            f"{source}: version {version} is newer than {VERSION}, the newest that this lobandits "
            "reads; upgrade lobandits"
        )
    unknown = [field for field in data if field not in FIELDS]
    if unknown:
        raise LobInputError(f"{source}: unknown field {unknown[0]!r}; known: {', '.join(FIELDS)}")


def _decode_state(chains: Any, arms: tuple[str, ...], where: str) -> BoolArray:
    edges = np.zeros((len(arms), len(arms)), dtype=np.bool_)
    if not isinstance(chains, list):
        raise LobInputError(f"{where} must be a list of chains of arms, got {reprlib.repr(chains)}")
    for i, chain in enumerate(chains):
        at = f"{where}[{i}]"
        path = [_arm(name, arms, f"{at}[{j}]") for j, name in enumerate(_list(chain, at))]
        if any(a == b for a, b in pairwise(path)):
            raise LobInputError(f"{at} puts an arm above itself: {' > '.join(chain)}")
        edges[path[:-1], path[1:]] = True
    return close(edges, arms, where)


def _arm(name: Any, arms: tuple[str, ...], where: str) -> int:
    if not isinstance(name, str):
        raise LobInputError(f"{where} is {name!r}; arms are given by their names")
    return arm_index(arms, name, f"{where}: ")


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise LobInputError(f"{where} must be a list that is not empty, got {reprlib.repr(value)}")
    return value


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return the content of a JSON file, or say why it cannot be read."""
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise LobInputError(f"{path} is corrupt or truncated, no valid JSON: {error}") from error


def write_json(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    """Write what `encode` returned, one line per field and per state."""
    lines = [f'  "{key}": {_dump(value)}' for key, value in data.items() if key != "states"]
    states = ",\n".join(f"    {_dump(state)}" for state in data["states"])
    write_text(path, "{\n" + ",\n".join([*lines, f'  "states": [\n{states}\n  ]']) + "\n}\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write the file whole or not at all, or say why it cannot be written."""
    try:
        write_atomic(path, lambda file: file.write(text.encode()))
    except OSError as error:
        raise LobInputError(f"cannot write {path}: {error.strerror or error}") from error


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
