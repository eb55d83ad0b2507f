"""``lob learn`` on 20 million rows of logs: seconds and memory, in a process of its own.

Bars: 90 s and 4 GB on two cores. Run with ``python benchmarks/large_logs.py`` (``--rows`` and
``--kind csv`` for others); the file is generated in a temporary folder, and removed.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--kind", choices=["parquet", "csv"], default="parquet")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = write(options.rows, options.kind, Path(folder))
        size = path.stat().st_size / 2**20
        out = str(Path(folder) / "model.json")
        command = [sys.executable, "-m", "lobandits", "learn", str(path), *COLUMNS, "--out", out]
        start = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(done.stdout)
    job = f"{options.rows:,} rows of {options.kind}, {size:,.0f} MB"
    cpu = f"{used.ru_utime + used.ru_stime:.0f} s"
    row = (job, f"{seconds:.0f} s", cpu, f"{used.ru_maxrss / 2**20:.2f} GB")
    show("lob learn; bars: 90 s, 4 GB", ("job", "seconds", "of processors", "memory"), [row])


if __name__ == "__main__":
    main()
