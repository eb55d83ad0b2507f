"""``lob learn`` and ``lob evaluate`` on 20 million rows of logs: seconds and memory of both.

Each runs in a process of its own; evaluate judges a sample of users. Bars: 3 minutes together, and
4 GB, on two cores. Run with ``python benchmarks/large_logs.py`` (``--rows`` and ``--kind csv`` for
others); the file is generated in a temporary folder, and removed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow.csv
import pyarrow.parquet as pq
from timing import show

import lobandits as lob

PER_USER = 100
COLUMNS = ["--user", "userId", "--arm", "genre", "--reward", "rating"]


def write(rows: int, kind: str, folder: Path) -> Path:
    """Write generated ratings of 19 genres, 100 for each user, to a file."""
    ratings = lob.make_ratings(n_users=rows // PER_USER, n_states=12, ratings_per_user=PER_USER)
    path = ratings.write(folder / "logs.parquet")
    if kind == "parquet":
        return path
    out = folder / "logs.csv"
    source = pq.ParquetFile(path)
    with pyarrow.csv.CSVWriter(out, source.schema_arrow) as writer:
        for batch in source.iter_batches():
            writer.write_batch(batch)
    path.unlink()
    return out


class Cost(NamedTuple):
    """What a command took: seconds of the clock and of processors, and the most memory in GB."""

    seconds: float
    processors: float
    memory: float


def run(*arguments: str) -> Cost:
    """Run ``lob`` in a process of its own, show what it printed, and return what it took."""
    command = [sys.executable, "-m", "lobandits", *arguments]
    start = time.perf_counter()
    done = subprocess.Popen(command)
    _, status, used = os.wait4(done.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    seconds = time.perf_counter() - start
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--kind", choices=["parquet", "csv"], default="parquet")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = write(options.rows, options.kind, Path(folder))
        size = path.stat().st_size / 2**20
        costs = {
            "learn": run("learn", str(path), *COLUMNS, "--out", str(Path(folder) / "model.json")),
            "evaluate": run("evaluate", str(path), *COLUMNS),
        }
    learn, evaluate = costs.values()
    spent = learn.seconds + evaluate.seconds, learn.processors + evaluate.processors
    costs["both"] = Cost(*spent, max(learn.memory, evaluate.memory))
    job = f"{options.rows:,} rows of {options.kind}, {size:,.0f} MB"
    rows = [
        (name, f"{c.seconds:.0f} s", f"{c.processors:.0f} s", f"{c.memory:.2f} GB")
        for name, c in costs.items()
    ]
    show(f"{job}; bars: 180 s, 4 GB", ("lob", "seconds", "of processors", "memory"), rows)


if __name__ == "__main__":
    main()
