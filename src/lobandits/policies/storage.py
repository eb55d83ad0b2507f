"""An agent as JSON: its policy, its state, and where its random numbers stand.

``{"format": "lobandits.agent", "version": 1, "policy": {...}, "state": {...}, "random": {...}}``;
numbers that JSON lacks (inf, nan) are written as text.
"""

import json
import math
import os
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from lobandits._checks import one_of
from lobandits._files import read_json, write_atomic
from lobandits.errors import LobInputError
from lobandits.policies.base import Policy
from lobandits.policies.registry import policy_from_dict
from lobandits.policies.state import State

FORMAT = "lobandits.agent"
VERSION = 1
FIELDS = ("format", "version", "policy", "state", "random")
GENERATORS = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")
POSITIONS = {"buffer_pos": 4, "pos": 624}  # in the buffers of Philox and MT19937, at most


def write(
    path: str | os.PathLike[str], policy: Policy, state: State, rng: np.random.Generator
) -> None:
    """Write an agent's parts to ``path``, all or nothing."""
    parts = (FORMAT, VERSION, policy.to_dict(), state.to_dict(), rng.bit_generator.state)
    data = _plain(dict(zip(FIELDS, parts, strict=True)))
    lines = [f'  "{field}": {_dump(value)}' for field, value in data.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"

    def put(file: IO[bytes]) -> None:
        file.write(text.encode())

    try:
        write_atomic(path, put)
    except OSError as error:
        raise LobInputError(f"cannot write {path}: {error.strerror}") from error


def read(path: str | os.PathLike[str]) -> tuple[Policy, State, np.random.Generator]:
    """Return an agent's parts, or name the file and the field that is wrong."""
    data = read_json(path)
    _check_header(data, str(path))
    field = "policy"
    try:
        policy = policy_from_dict(data["policy"])
        field = "state"
        state = policy.restore(data["state"])
        if state.n_users != 1:
            raise LobInputError(f"an agent is one user, got {state.n_users}")
        field = "random"
        return policy, state, _generator(data["random"])
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise LobInputError(f"{path}: the field {field!r} is wrong: {error}") from error


def _check_header(data: Any, path: str) -> None:
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise LobInputError(f"{path} is no saved agent: it lacks the format {FORMAT!r}")
    missing = [field for field in FIELDS if field not in data]
    if missing:
        raise LobInputError(f"{path}: the field {missing[0]!r} is missing")
    if data["version"] != VERSION:
        raise LobInputError(
            f"{path}: version is {data['version']!r}, but this lobandits reads version {VERSION}"
        )


def _generator(state: Mapping[str, Any]) -> np.random.Generator:
    kind = one_of("generator", state["bit_generator"], GENERATORS)
    bits: np.random.BitGenerator = getattr(np.random, kind)()
    bits.state = {key: _arrays(value) for key, value in state.items()}
    known = {**bits.state, **bits.state["state"]}
    for name, most in POSITIONS.items():  # NumPy does not check these, and reads what is there
        if not 0 <= known.get(name, 0) <= most:
            raise LobInputError(f"{name} is {known[name]}; it must lie between 0 and {most}")
    return np.random.Generator(bits)


def _arrays(value: Any) -> Any:
    """Turn the lists inside a generator's state back into arrays."""
    if isinstance(value, Mapping):
        return {key: _arrays(inside) for key, inside in value.items()}
    return np.array(value, np.uint64) if isinstance(value, list) else value


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Turn arrays into lists, and numbers that JSON lacks into text."""
    if isinstance(value, Mapping):
        return {key: _plain(inside) for key, inside in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(inside) for inside in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
