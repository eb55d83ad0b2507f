"""Results as files: Parquet or npz, with the settings inside.

The header is JSON: what the result's arrays belong to, and a checksum of each of them, since
Parquet as such would not notice a changed number or row.
"""

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import FloatArray
from lobandits._files import check_versioned, write_file
from lobandits.errors import LobInputError
from lobandits.simulation import result_npz, result_parquet
from lobandits.simulation.moments import ROWS, Moments
from lobandits.simulation.result import Result

FORMAT = "lobandits.result"
VERSION = 1
FIELDS = ("settings", "seconds", "cpu_seconds", "constants")
SETTINGS = ("environment", "policies", "horizon", "n_users", "seed", "keep")
KINDS = {".parquet": result_parquet, ".npz": result_npz}


def save_result(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write a result as its suffix says."""
    from lobandits import __version__

    kind, arrays = _kind(path), _arrays(result)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "lobandits": __version__,
        **{field: dict(getattr(result, field)) for field in FIELDS},
        "checksums": {name: _checksum(array) for name, array in arrays.items()},
    }
    text = json.dumps(header)
    return write_file(path, lambda file: kind.write(file, text, arrays, result.settings))


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result; what is none, or broken, is refused."""
    kind, place = _kind(path), Path(path)
    with _reading(path):
        header = json.loads(kind.read_header(place))
    check_versioned(header, str(path), FORMAT, VERSION, (*FIELDS, "checksums"), "a saved result")
    with _reading(path):
        _check_settings(header)
        return _result(header, kind.read_arrays(place, header["settings"]))


def _kind(path: str | os.PathLike[str]) -> Any:
    suffix = Path(path).suffix.lower()
    if suffix not in KINDS:
        raise LobInputError(f"{path} must end in .parquet or .npz, got {suffix or 'no suffix'!r}")
    return KINDS[suffix]


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in every error."""
    try:
        yield
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from error
    except LobInputError as error:
        raise LobInputError(f"{path}: {error}") from None
    except Exception as error:
        raise LobInputError(f"{path} is corrupt or no lobandits result: {error}") from error


def _check_settings(header: Mapping[str, Any]) -> None:
    for key in SETTINGS:
        if key not in header["settings"]:
            raise LobInputError(f"the setting {key!r} is missing")
    for label in header["settings"]["policies"]:
        if not {label} <= header["seconds"].keys() & header["cpu_seconds"].keys():
            raise LobInputError(f"the seconds of {label!r} are missing")


def _checksum(array: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(array, dtype="<f8").data)


def _arrays(result: Result) -> dict[str, FloatArray]:
    """Return what a result is rebuilt from, by name."""
    if result.users is not None:
        return {f"user/{label}": regret for label, regret in result.users.items()}
    totals = {f"totals/{label}": totals for label, totals in result.totals.items()}
    return totals | {f"moments/{label}": m.table for label, m in result.moments.items()}


def _result(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Result:
    """Return the result that a header and arrays describe, after checking every array."""
    settings = header["settings"]
    n, horizon = settings["n_users"], settings["horizon"]
    if settings["keep"] == "all":
        users = _read(header, arrays, "user", (n, horizon))
        moments = {label: Moments.of(regret) for label, regret in users.items()}
        totals = {label: np.cumsum(regret, axis=1)[:, -1] for label, regret in users.items()}
    else:
        users, totals = None, _read(header, arrays, "totals", (n,))
        tables = _read(header, arrays, "moments", (len(ROWS), horizon))
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


def _read(
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    what: str,
    shape: tuple[int, ...],
) -> dict[str, FloatArray]:
    """Return one array for each policy, or say which is missing or changed."""
    found = {}
    for label in header["settings"]["policies"]:
        name = f"{what}/{label}"
        if name not in arrays:
            raise LobInputError(f"{name!r} is missing")
        if arrays[name].shape != shape:
            raise LobInputError(f"{name!r} has shape {arrays[name].shape}, expected {shape}")
        if _checksum(arrays[name]) != header["checksums"].get(name):
            raise LobInputError(f"{name!r} is corrupt: its checksum differs")
        found[label] = np.ascontiguousarray(arrays[name], dtype=np.float64)
    return found
