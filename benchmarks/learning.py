"""From 20 million generated ratings to the aggregate: against hand-written SQL, and memory.

Run with ``python benchmarks/learning.py``; ``--quick`` does a small part.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from timing import seconds, show

from lobandits.learning import make_ratings, reward_table

USERS = 133_334
PER_USER = 150
SLOWER = 1.3
MEMORY_LIMIT = 4.0
SQL = """
SELECT userId, genre, count(*) AS counts, sum(rating) AS sums, sum(rating * rating) AS squares
FROM read_parquet('{}') GROUP BY userId, genre
"""


def by_hand(file: Path) -> Any:
    """Aggregate with SQL alone; the result stays a list of cells."""
    return duckdb.connect().sql(SQL.format(file)).to_arrow_table()


def table(file: Path) -> object:
    return reward_table(file, "userId", "genre", "rating")


def in_turns(first: Callable[[], object], second: Callable[[], object], n: int) -> list[float]:
    """Return each one's shortest time; they take turns, so a busy machine slows both."""
    times = [[seconds(call, repeats=1) for call in (first, second)] for _ in range(n)]
    return [min(column) for column in zip(*times, strict=True)]


def speed(file: Path, rows: int, repeats: int) -> None:
    """Time `reward_table`, which also checks rows and arranges cells, against the SQL alone."""
    cells = by_hand(file)
    found = reward_table(file, "userId", "genre", "rating")
    counts = np.sort(cells.column("counts").to_numpy())
    assert np.array_equal(counts, np.sort(found.counts[found.counts > 0]))
    rival, ours = in_turns(lambda: by_hand(file), lambda: table(file), repeats)
    row = (f"{rows:,} rows", f"{rival:.2f}", f"{ours:.2f}", f"{ours / rival:.2f}")
    columns = ("job", "SQL, s", "reward_table, s", f"ratio (<= {SLOWER})")
    show("From Parquet to aggregate", columns, [row])


def memory(file: Path, rows: int) -> None:
    """Peak resident memory of a process of its own."""
    command = [sys.executable, __file__, "--memory-of", str(file)]
    peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    row = (f"{rows:,} rows", f"{peak:.2f}")
    show("Memory", ("job", f"peak GB (< {MEMORY_LIMIT:g})"), [row])


def print_own_memory(file: Path) -> None:
    """Aggregate, and print this process's peak memory in GB."""
    table(file)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small part")
    parser.add_argument("--memory-of", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        print_own_memory(options.memory_of)
        return
    ratings = make_ratings(USERS // (20 if options.quick else 1), ratings_per_user=PER_USER)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        file = ratings.write(Path(folder) / "ratings.parquet")
        print(f"{ratings.n_rows:,} rows written in {time.perf_counter() - began:.1f} s")
        speed(file, ratings.n_rows, repeats=5)
        memory(file, ratings.n_rows)


if __name__ == "__main__":
    main()
