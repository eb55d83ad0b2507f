"""Results as files: NumPy's npz, with the settings inside.

A zip: it has the header, which is JSON, and each array under its name, with a checksum that is
looked at whenever the array is read.
"""

import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.basics.files import check_versioned, write_file
from lobandits.errors import LobInputError
from lobandits.simulation.moments import ROWS, Moments
from lobandits.simulation.result import Result

FORMAT = "lobandits.result"
VERSION = 1
FIELDS = ("settings", "seconds", "cpu_seconds", "constants")
SETTINGS = ("environment", "policies", "horizon", "n_users", "seed", "keep")


def save_result(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write what the result is made of."""
    from lobandits import __version__

    _check_suffix(path)
    fields = {field: dict(getattr(result, field)) for field in FIELDS}
    header = {"format": FORMAT, "version": VERSION, "lobandits": __version__, **fields}
    entries: Any = {"header": np.array(json.dumps(header))}
    if result.users is not None:
        entries |= {f"user/{label}": regret for label, regret in result.users.items()}
    else:
        entries |= {f"totals/{label}": totals for label, totals in result.totals.items()}
        entries |= {f"moments/{label}": m.table for label, m in result.moments.items()}
    return write_file(path, lambda file: np.savez_compressed(file, **entries))


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result; what is none, or broken, is refused."""
    _check_suffix(path)
    with _reading(path) as data:
        header = json.loads(str(data["header"]))
        check_versioned(header, str(path), FORMAT, VERSION, FIELDS, "a saved result")
        _check_settings(header, str(path))
        return _result(header, data, str(path))


def _check_suffix(path: str | os.PathLike[str]) -> None:
    suffix = Path(path).suffix.lower()
    if suffix != ".npz":
        raise LobInputError(f"{path} must end in .npz, got {suffix or 'no suffix'!r}")


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a file; name it in every error."""
    try:
        with zipfile.ZipFile(path), np.load(path, allow_pickle=False) as data:
            yield data
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from error
    except LobInputError:
        raise
    except Exception as error:
        raise LobInputError(f"{path} is corrupt or no lobandits result: {error}") from error


def _check_settings(header: Mapping[str, Any], source: str) -> None:
    for key in SETTINGS:
        if key not in header["settings"]:
            raise LobInputError(f"{source}: the setting {key!r} is missing")
    for label in header["settings"]["policies"]:
        if not {label} <= header["seconds"].keys() & header["cpu_seconds"].keys():
            raise LobInputError(f"{source}: the seconds of {label!r} are missing")


def _result(header: Mapping[str, Any], data: Any, source: str) -> Result:
    """Return the result that a header and arrays describe."""
    settings = header["settings"]
    n, horizon = settings["n_users"], settings["horizon"]

    def read(what: str, *shape: int) -> dict[str, FloatArray]:
        names = {label: f"{what}/{label}" for label in settings["policies"]}
        return {label: _array(data, name, shape, source) for label, name in names.items()}

    users = read("user", n, horizon) if settings["keep"] == "all" else None
    if users is not None:
        moments = {label: Moments.of(regret) for label, regret in users.items()}
        totals = {label: np.cumsum(regret, axis=1)[:, -1] for label, regret in users.items()}
    else:
        totals = read("totals", n)
        tables = read("moments", len(ROWS), horizon)
        moments = {label: Moments(n, table) for label, table in tables.items()}
    return Result(
        settings=settings,
        totals=totals,
        moments=moments,
        seconds=header["seconds"],
        cpu_seconds=header["cpu_seconds"],
        users=users,
        constants=header["constants"],
    )


def _array(data: Any, name: str, shape: tuple[int, ...], source: str) -> FloatArray:
    if name not in data.files:
        raise LobInputError(f"{source}: {name!r} is missing")
    array = np.ascontiguousarray(data[name], dtype=np.float64)
    if array.shape != shape:
        raise LobInputError(f"{source}: {name!r} has shape {array.shape}, expected {shape}")
    return array
