"""Results as files: Parquet or npz, with the settings inside.

Parquet with keep="all" has a row per user and round: ``user``, ``round``, and a column with the
regret of each policy. With keep="mean" it has a row per policy, with lists: its ``totals`` by user,
and the moments by round. The settings are JSON, under the key ``lobandits``, with a checksum of
each array: Parquet as such would not notice a changed number or row.
"""

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import FloatArray
from lobandits._files import write_file
from lobandits.errors import LobInputError
from lobandits.simulation.moments import ROWS, Moments
from lobandits.simulation.result import Result

FORMAT = "lobandits.result"
VERSION = 1
KEY = "lobandits"
FIELDS = ("settings", "seconds", "cpu_seconds", "constants")
SETTINGS = ("environment", "policies", "horizon", "n_users", "seed", "keep")
Arrays = dict[str, NDArray[Any]]


def save_result(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write a result as its suffix says."""
    from lobandits import __version__

    write = _write_parquet if _is_parquet(path) else _write_npz
    checksums = {name: _checksum(array) for name, array in _arrays(result).items()}
    kept = {field: dict(getattr(result, field)) for field in FIELDS}
    versions = {"format": FORMAT, "version": VERSION, "lobandits": __version__}
    header = json.dumps({**versions, **kept, "checksums": checksums})
    return write_file(path, lambda file: write(file, result, header))


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result; what is none, or broken, is refused."""
    read = _read_parquet if _is_parquet(path) else _read_npz
    try:
        return _result(*read(Path(path)))
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from error
    except LobInputError as error:
        raise LobInputError(f"{path}: {error}") from None
    except Exception as error:
        raise LobInputError(f"{path} is corrupt or no lobandits result: {error}") from error


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    suffix = Path(path).suffix.lower()
    if suffix not in (".parquet", ".npz"):
        raise LobInputError(f"{path} must end in .parquet or .npz, got {suffix or 'no suffix'!r}")
    return suffix == ".parquet"


def _checksum(array: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(array, dtype="<f8").data)


def _header(text: str) -> dict[str, Any]:
    header = json.loads(text)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise LobInputError("no lobandits result")
    version = header.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise LobInputError(
            f"format version {version!r}, but this lobandits reads up to {VERSION}; upgrade it"
        )
    for field in (*FIELDS, "checksums"):
        if not isinstance(header.get(field), dict):
            raise LobInputError(f"the field {field!r} is missing")
    for key in SETTINGS:
        if key not in header["settings"]:
            raise LobInputError(f"the setting {key!r} is missing")
    for label in header["settings"]["policies"]:
        if not {label} <= header["seconds"].keys() & header["cpu_seconds"].keys():
            raise LobInputError(f"the seconds of {label!r} are missing")
    return header


def _result(header: Mapping[str, Any], arrays: Arrays) -> Result:
    settings = header["settings"]
    labels, n, horizon = list(settings["policies"]), settings["n_users"], settings["horizon"]

    def read(kind: str, shape: tuple[int, ...]) -> dict[str, FloatArray]:
        found = {}
        for label in labels:
            name = f"{kind}/{label}"
            if name not in arrays:
                raise LobInputError(f"{name!r} is missing")
            if arrays[name].shape != shape:
                raise LobInputError(f"{name!r} has shape {arrays[name].shape}, expected {shape}")
            if _checksum(arrays[name]) != header["checksums"].get(name):
                raise LobInputError(f"{name!r} is corrupt: its checksum differs")
            found[label] = np.ascontiguousarray(arrays[name], dtype=np.float64)
        return found

    if settings["keep"] == "all":
        users = read("user", (n, horizon))
        moments = {label: Moments.of(regret) for label, regret in users.items()}
        totals = {label: np.cumsum(regret, axis=1)[:, -1] for label, regret in users.items()}
    else:
        users, totals = None, read("totals", (n,))
        tables = read("moments", (len(ROWS), horizon))
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


def _arrays(result: Result) -> Arrays:
    """Return what a result is rebuilt from, by name."""
    if result.users is not None:
        return {f"user/{label}": regret for label, regret in result.users.items()}
    totals = {f"totals/{label}": totals for label, totals in result.totals.items()}
    return totals | {f"moments/{label}": m.table for label, m in result.moments.items()}


def _write_npz(file: IO[bytes], result: Result, header: str) -> None:
    arrays: dict[str, Any] = {"header": np.array(header), **_arrays(result)}
    np.savez_compressed(file, **arrays)


def _read_npz(path: Path) -> tuple[dict[str, Any], Arrays]:
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise LobInputError("corrupt or truncated, no npz file")
        file.seek(0)
        with np.load(file, allow_pickle=False) as data:
            return _header(str(data["header"])), {name: data[name] for name in data.files}


def _write_parquet(file: IO[bytes], result: Result, header: str) -> None:
    import polars as pl

    columns: dict[str, Any]
    if result.users is not None:
        n, horizon = result.n_users, result.horizon
        columns = {
            "user": np.repeat(np.arange(n, dtype=np.uint32), horizon),
            "round": np.tile(np.arange(1, horizon + 1, dtype=np.uint32), n),
        }
        columns |= {label: regret.ravel() for label, regret in result.users.items()}
    else:
        tables = [result.moments[label].table for label in result.policies]
        columns = {
            "policy": list(result.policies),
            "totals": [pl.Series(totals) for totals in result.totals.values()],
        }
        columns |= {name: [pl.Series(table[i]) for table in tables] for i, name in enumerate(ROWS)}
    pl.DataFrame(columns).write_parquet(file, metadata={KEY: header})


def _read_parquet(path: Path) -> tuple[dict[str, Any], Arrays]:
    import polars as pl

    try:
        header = _header(pl.read_parquet_metadata(path).get(KEY, "null"))
        frame = pl.read_parquet(path)
    except pl.exceptions.PanicException as error:  # no Exception, so nobody else would catch it
        raise LobInputError("corrupt, no Parquet file") from error
    settings = header["settings"]
    if settings["keep"] == "all":
        shape = (settings["n_users"], settings["horizon"])
        return header, {
            f"user/{label}": frame[label].to_numpy().reshape(shape)
            for label in settings["policies"]
            if label in frame.columns
        }
    arrays: Arrays = {}
    for i, label in enumerate(frame["policy"]):
        arrays[f"totals/{label}"] = frame["totals"][i].to_numpy()
        arrays[f"moments/{label}"] = np.stack([frame[name][i].to_numpy() for name in ROWS])
    return header, arrays
