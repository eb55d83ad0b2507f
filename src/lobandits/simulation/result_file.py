"""Results as files: Parquet or npz, with the settings inside.

The header is JSON: what the result's arrays belong to, and a checksum of each of them, since
Parquet as such would not notice a changed number or row.
"""

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import FloatArray
from lobandits.basics.files import check_versioned, write_file
from lobandits.errors import LobInputError
from lobandits.simulation.moments import ROWS, Moments
from lobandits.simulation.result import Result

FORMAT = "lobandits.result"
VERSION = 1
FIELDS = ("settings", "seconds", "cpu_seconds", "constants")
SETTINGS = ("environment", "policies", "horizon", "n_users", "seed", "keep")
KEY = "lobandits"
Arrays = Mapping[str, NDArray[Any]]


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


def _kind(path: str | os.PathLike[str]) -> "type[Npz | Parquet]":
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


def _result(header: Mapping[str, Any], arrays: Arrays) -> Result:
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
    arrays: Arrays,
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


class Npz:
    """NumPy's npz: the header, and each array under its name."""

    @staticmethod
    def write(file: IO[bytes], header: str, arrays: Arrays, settings: Mapping[str, Any]) -> None:
        """Write the header and the arrays."""
        entries: dict[str, Any] = {"header": np.array(header), **arrays}
        np.savez_compressed(file, **entries)

    @staticmethod
    def read_header(path: Path) -> str:
        """Return the header."""
        with _opened_npz(path) as data:
            return str(data["header"])

    @staticmethod
    def read_arrays(path: Path, settings: Mapping[str, Any]) -> Arrays:
        """Return the arrays."""
        with _opened_npz(path) as data:
            return {name: data[name] for name in data.files}


@contextmanager
def _opened_npz(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise LobInputError("corrupt or truncated, no npz file")
        file.seek(0)
        with np.load(file, allow_pickle=False) as data:
            yield data


class Parquet:
    """Parquet, which other programs can read.

    With keep="all" it has a row per user and round: ``user``, ``round``, and a column with the
    regret of each policy. With keep="mean" it has a row per policy, with lists: its ``totals`` by
    user, and the moments by round. The header is kept under the key ``lobandits``.
    """

    @staticmethod
    def write(file: IO[bytes], header: str, arrays: Arrays, settings: Mapping[str, Any]) -> None:
        """Write the header and the arrays."""
        import pyarrow as pa
        from pyarrow.parquet import write_table

        columns = _by_round if settings["keep"] == "all" else _by_policy
        table = pa.table(columns(arrays, settings)).replace_schema_metadata({KEY: header})
        write_table(table, file, compression="zstd")

    @staticmethod
    def read_header(path: Path) -> str:
        """Return the header; that of a table without one is null."""
        from pyarrow.parquet import read_metadata

        metadata = read_metadata(path).metadata or {}
        return str(metadata.get(KEY.encode(), b"null").decode())

    @staticmethod
    def read_arrays(path: Path, settings: Mapping[str, Any]) -> Arrays:
        """Return the arrays."""
        from pyarrow.parquet import read_table

        table = read_table(path)
        if settings["keep"] == "all":
            shape = (settings["n_users"], settings["horizon"])
            return {
                f"user/{label}": table[label].to_numpy().reshape(shape)
                for label in settings["policies"]
                if label in table.column_names
            }
        arrays = {}
        for i, label in enumerate(table["policy"].to_pylist()):
            arrays[f"totals/{label}"] = _list_at(table, "totals", i)
            arrays[f"moments/{label}"] = np.stack([_list_at(table, name, i) for name in ROWS])
        return arrays


def _list_at(table: Any, column: str, row: int) -> NDArray[Any]:
    """Return one list of a column as an array."""
    values: NDArray[Any] = table[column][row].values.to_numpy()
    return values


def _by_round(arrays: Arrays, settings: Mapping[str, Any]) -> dict[str, Any]:
    n, horizon = settings["n_users"], settings["horizon"]
    return {
        "user": np.repeat(np.arange(n, dtype=np.uint32), horizon),
        "round": np.tile(np.arange(1, horizon + 1, dtype=np.uint32), n),
        **{name.removeprefix("user/"): regret.ravel() for name, regret in arrays.items()},
    }


def _by_policy(arrays: Arrays, settings: Mapping[str, Any]) -> dict[str, Any]:
    labels = list(settings["policies"])
    tables = [arrays[f"moments/{label}"] for label in labels]
    return {
        "policy": labels,
        "totals": [arrays[f"totals/{label}"] for label in labels],
        **{row: [table[i] for table in tables] for i, row in enumerate(ROWS)},
    }


KINDS: dict[str, type[Npz | Parquet]] = {".parquet": Parquet, ".npz": Npz}
