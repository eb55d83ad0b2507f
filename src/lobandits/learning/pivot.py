"""From cells, one row for each user and arm, to the RewardTable."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import IntArray, read_only
from lobandits.errors import LobInputError
from lobandits.learning.memory import check_memory
from lobandits.learning.table import RewardTable
from lobandits.orders.arms import arm_names

MOST_CELLS = 2**29
CELL_BYTES = 4 * 8  # the three numbers of a cell, and its mean
DENSE = 4  # numbers lie close together if their range is at most so many times their number


def pivot(cells: Any, name: str, arm: str, skipped: int = 0) -> RewardTable:
    """Return the table of cells, an Arrow table with one row for each."""
    batches = cells.to_batches()
    users, rows = _ranks([batch.column("user") for batch in batches])
    arms, columns = _ranks([batch.column("arm") for batch in batches])
    shape = len(users), len(arms)
    if shape[0] * shape[1] > MOST_CELLS:
        raise LobInputError(
            f"{name} has {shape[0]:,} users and {shape[1]:,} arms, more than {MOST_CELLS:,} "
            f"cells; is {arm!r} the column of arms?"
        )
    needed = CELL_BYTES * shape[0] * shape[1]
    what = f"the table of {shape[0]:,} users and {shape[1]:,} arms in {name}"
    check_memory(needed, what, f"is {arm!r} the column of arms?")
    kinds = {"counts": np.int64, "sums": np.float64, "squares": np.float64}
    fields = {field: np.zeros(shape, dtype=kind) for field, kind in kinds.items()}

    def write(batch: Any, row: IntArray, column: IntArray) -> None:
        place = row * shape[1] + column
        for field, values in fields.items():
            values.reshape(-1)[place] = batch.column(field).to_numpy()

    _in_threads(write, batches, rows, columns)
    try:
        names = arm_names(None, [str(value) for value in arms.tolist()])
    except LobInputError as error:
        raise LobInputError(
            f"column {arm!r} of {name}: {error}. Correct or leave out such rows"
        ) from None
    cells = {field: read_only(values) for field, values in fields.items()}
    return RewardTable._of(users=users, arms=names, skipped=skipped, **cells)


def _ranks(parts: list[Any]) -> tuple[NDArray[Any], list[IntArray]]:
    """Return the sorted values of a column in parts, and where each part's values stand there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_signed_integer(parts[0].type):
        low, high = (end.as_py() for end in pc.min_max(pa.chunked_array(parts)).values())
        if high - low < DENSE * sum(map(len, parts)):  # their own codes, which saves hashing
            codes = [np.subtract(part.to_numpy(), low, dtype=np.int64) for part in parts]
            there = np.zeros(high - low + 1, dtype=np.bool_)
            for code in codes:
                there[code] = True
            rank = np.cumsum(there) - 1
            return np.flatnonzero(there) + low, _in_threads(rank.__getitem__, codes)
    encoded = pa.chunked_array(_in_threads(lambda part: part.dictionary_encode(), parts))
    chunks = encoded.unify_dictionaries().chunks
    values = chunks[0].dictionary
    order = pc.sort_indices(values).to_numpy()
    rank = np.argsort(order)
    ranks = _in_threads(lambda chunk: rank[chunk.indices.to_numpy()], chunks)
    return _array(values.take(order)), ranks


def _in_threads(work: Callable[..., Any], *parts: list[Any]) -> list[Any]:
    """Return what ``work`` makes of each part; Arrow and NumPy let other threads go on."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(work, *parts))


def _array(values: Any) -> NDArray[Any]:
    """Return numbers as such, everything else as Python objects."""
    import pyarrow as pa

    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        numbers: NDArray[Any] = values.to_numpy()
        return numbers.astype(np.int64) if numbers.dtype.kind == "i" else numbers
    return np.array(values.to_pylist(), dtype=object)
