"""RewardTable: what learning needs to know of logs, three numbers for each user and arm."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits.basics.checks import FloatArray, IntArray, read_only, shaped_array, whole
from lobandits.basics.frozen import Frozen
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_names

# To so many bits sums are taken for exact: what is lost is far above the noise of adding rewards
# in another order, and far below any reward's precision.
BITS = 40
CELLS = ("counts", "sums", "squares")
MOST_CELLS = 2**29
CELL_BYTES = 4 * 8  # the three numbers of a cell, and its mean
DENSE = 4  # numbers lie close together if their range is at most so many times their number
MEMINFO, LIMIT = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
GIB = 2**30


@dataclass(frozen=True)
class RewardTable(Frozen):
    r"""The number, sum and sum of squares of each user's rewards from each arm.

    .. math:: N_{ia} = \sum_{t} 1[a_t = a], \quad
              S_{ia} = \sum_{t: a_t = a} r_t, \quad
              Q_{ia} = \sum_{t: a_t = a} r_t^2

    `reward_table` makes one from logs.

    Parameters
    ----------
    users : (n,)
        Names or numbers, all different.
    arms : names of the k arms
    counts, sums, squares : (n, k)
        N, S and Q; 0 where the user never tried the arm. Where old rewards weigh less, N is the sum
        of weights, and no whole number.
    skipped
        How many rows of the logs had no reward, and were left out.

    Examples
    --------
    >>> counts, sums, squares = [[2, 1], [1, 0]], [[7, 1], [3, 0]], [[25, 1], [9, 0]]
    >>> RewardTable(["ann", "bob"], ["x", "y"], counts, sums, squares).means
    array([[3.5, 1. ],
           [3. , nan]])
    """

    users: NDArray[Any]
    arms: tuple[str, ...]
    counts: IntArray | FloatArray
    sums: FloatArray
    squares: FloatArray
    skipped: int = 0

    def __post_init__(self) -> None:
        users = np.asarray(self.users)
        if users.ndim != 1:
            raise LobInputError(f"users must have 1 axis, got shape {users.shape}")
        if len(set(users.tolist())) < len(users):
            raise LobInputError("users has somebody twice; every user must be unique")
        arms = arm_names(None, self.arms)
        shape = (len(users), len(arms))
        counts, sums, squares = (shaped_array(name, getattr(self, name), shape) for name in CELLS)
        if (counts < 0).any():
            raise LobInputError("counts must be numbers of rewards, or weights, not negative")
        whole_counts = counts if (counts % 1).any() else counts.astype(np.int64)
        cells = {"counts": whole_counts, "sums": sums, "squares": squares}
        self._set(users=users, arms=arms, skipped=whole("skipped", self.skipped, least=0), **cells)

    @property
    def n_users(self) -> int:
        """The number of users, n."""
        return len(self.users)

    @property
    def n_arms(self) -> int:
        """The number of arms, k."""
        return len(self.arms)

    @property
    def n_rewards(self) -> int:
        """The number of rewards, or their weight, rounded."""
        return round(float(self.counts.sum()))

    @cached_property
    def means(self) -> FloatArray:
        """Each user's mean reward of each arm, (n, k); nan where there is none.

        Rounded to 40 bits of the size of the user's rewards, so that equal means are equal bit by
        bit, in whichever order an engine added the rewards.
        """
        tried = np.where(self.counts > 0, self.counts, 1)
        means = self.sums / tried
        size = np.maximum(np.sqrt(self.squares / tried), np.abs(means))  # tiny squares vanish
        exponent = np.frexp(size.max(axis=1, initial=0.0, keepdims=True))[1]
        rounded = np.ldexp(np.round(np.ldexp(means, BITS - exponent)), exponent - BITS)
        return read_only(np.where(self.counts > 0, rounded, np.nan))

    def noise(self) -> float:
        r"""Return the pooled standard deviation of rewards within cells, an estimate of sigma.

        .. math:: \hat\sigma^2 = \frac{\sum_{ia} (Q_{ia} - S_{ia}^2 / N_{ia})}
                                      {\sum_{ia} (N_{ia} - 1)}

        over the cells with at least two rewards; nan if there are none. What lies below a
        millionth of the rewards' size is taken for rounding. Where old rewards weigh less, it comes
        out a little large: weights have more than N - 1 degrees of freedom.
        """
        cells = self.counts >= 2
        counts, sums, squares = self.counts[cells], self.sums[cells], self.squares[cells]
        if not counts.size:
            return float("nan")
        spread = squares - sums * sums / counts
        told = spread > np.ldexp(squares, -BITS)
        return float(np.sqrt(spread[told].sum() / (counts - 1).sum()))

    def take(self, index: ArrayLike) -> "RewardTable":
        """Return the table of some users: their positions, or one bool for each user."""
        where = np.asarray(index)
        return self._part(where if where.size else where.astype(np.int64), np.arange(self.n_arms))

    def of_arms(self, arms: IntArray) -> "RewardTable":
        """Return the table of some arms, by number; users who tried none of them stay."""
        return self._part(np.arange(self.n_users), arms)

    def filter(self, min_user_rewards: int = 1, min_arm_rewards: int = 1) -> "RewardTable":
        """Drop arms with fewer rewards, then users with fewer rewards from the arms left.

        As the paper filters, once each. An arm that no user left has tried is dropped too. Where
        old rewards weigh less, weights are compared, but 1 keeps all that weigh anything.
        """
        least_user = whole("min_user_rewards", min_user_rewards)
        least_arm = whole("min_arm_rewards", min_arm_rewards)
        tried = self.counts.sum(axis=0)
        enough = tried >= least_arm if least_arm > 1 else tried > 0
        found = self.counts @ enough
        users = found >= least_user if least_user > 1 else found > 0
        if users.all() and enough.all():
            return self
        arms = enough & (users @ self.counts > 0)
        return self._part(np.flatnonzero(users), np.flatnonzero(arms))

    def _part(self, users: NDArray[Any], arms: IntArray) -> "RewardTable":
        try:
            arrays = {name: read_only(getattr(self, name)[users][:, arms]) for name in CELLS}
            arrays["users"] = self.users[users]
        except IndexError as error:
            raise LobInputError(f"no such users in {self!r}: {error}") from None
        names = tuple(self.arms[a] for a in arms)
        return RewardTable._of(arms=names, skipped=self.skipped, **arrays)

    def __repr__(self) -> str:
        sizes = f"n_users={self.n_users}, n_arms={self.n_arms}, n_rewards={self.n_rewards}"
        return f"RewardTable({sizes})"


def pivot(cells: Any, name: str, arm: str, skipped: int = 0, faded: bool = False) -> RewardTable:
    """Return the table of cells, an Arrow table with one row for each.

    Of logs that fade, its ``weights`` take the place of counts.
    """
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
    kinds = {"counts": np.float64 if faded else np.int64, "sums": np.float64, "squares": np.float64}
    fields = {field: np.zeros(shape, dtype=kind) for field, kind in kinds.items()}

    def write(batch: Any, row: IntArray, column: IntArray) -> None:
        place = row * shape[1] + column
        for field, values in fields.items():
            given = "weights" if faded and field == "counts" else field
            values.reshape(-1)[place] = batch.column(given).to_numpy()

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


def check_memory(needed: float, what: str, fix: str) -> None:
    """Refuse what needs more bytes than there are: ``what`` needs them, ``fix`` helps."""
    there = available_memory()
    if there is not None and needed > there:
        raise LobInputError(
            f"{what} needs {needed / GIB:,.1f} GiB of memory, and {there / GIB:,.1f} are free; "
            f"{fix}"
        )


def available_memory() -> int | None:
    """Return the bytes that this process may still take, or None where nothing tells."""
    free = None
    if MEMINFO.exists():
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = LIMIT.read_text().strip() if LIMIT.exists() else "max"
    if free is None or not limit.isdecimal():
        return free
    return min(free, int(limit))
