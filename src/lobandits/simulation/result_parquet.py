"""Results as Parquet, which other programs can read.

With keep="all" it has a row per user and round: ``user``, ``round``, and a column with the regret
of each policy. With keep="mean" it has a row per policy, with lists: its ``totals`` by user, and
the moments by round. The header is kept under the key ``lobandits``.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lobandits.errors import LobInputError
from lobandits.simulation.moments import ROWS

KEY = "lobandits"
Arrays = Mapping[str, NDArray[Any]]


def write(file: IO[bytes], header: str, arrays: Arrays, settings: Mapping[str, Any]) -> None:
    """Write the header and the arrays."""
    import polars as pl

    columns = _by_round if settings["keep"] == "all" else _by_policy
    pl.DataFrame(columns(arrays, settings)).write_parquet(file, metadata={KEY: header})


def _by_round(arrays: Arrays, settings: Mapping[str, Any]) -> dict[str, Any]:
    n, horizon = settings["n_users"], settings["horizon"]
    return {
        "user": np.repeat(np.arange(n, dtype=np.uint32), horizon),
        "round": np.tile(np.arange(1, horizon + 1, dtype=np.uint32), n),
        **{name.removeprefix("user/"): regret.ravel() for name, regret in arrays.items()},
    }


def _by_policy(arrays: Arrays, settings: Mapping[str, Any]) -> dict[str, Any]:
    import polars as pl

    labels = list(settings["policies"])
    tables = [arrays[f"moments/{label}"] for label in labels]
    return {
        "policy": labels,
        "totals": [pl.Series(arrays[f"totals/{label}"]) for label in labels],
        **{row: [pl.Series(table[i]) for table in tables] for i, row in enumerate(ROWS)},
    }


def read_header(path: Path) -> str:
    """Return the header; that of a table without one is null."""
    import polars as pl

    with _damage_named():
        return pl.read_parquet_metadata(path).get(KEY, "null")


def read_arrays(path: Path, settings: Mapping[str, Any]) -> Arrays:
    """Return the arrays."""
    import polars as pl

    with _damage_named():
        frame = pl.read_parquet(path)
    if settings["keep"] == "all":
        shape = (settings["n_users"], settings["horizon"])
        return {
            f"user/{label}": frame[label].to_numpy().reshape(shape)
            for label in settings["policies"]
            if label in frame.columns
        }
    arrays = {}
    for i, label in enumerate(frame["policy"]):
        arrays[f"totals/{label}"] = frame["totals"][i].to_numpy()
        arrays[f"moments/{label}"] = np.stack([frame[name][i].to_numpy() for name in ROWS])
    return arrays


@contextmanager
def _damage_named() -> Iterator[None]:
    from polars.exceptions import PanicException

    try:
        yield
    except PanicException as error:  # no Exception, so nobody else would catch it
        raise LobInputError("corrupt, no Parquet file") from error
