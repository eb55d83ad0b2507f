"""Timing shared by the benchmarks: the best of several runs, all in one process."""

import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table


def seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest time that ``call`` took, after one run to warm up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def machine() -> str:
    """Describe the processor and Python in one line."""
    model = platform.processor() or "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":")[1] for line in info.read_text().splitlines() if "model name" in line
        ]
        model = names[0].strip() if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def show(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table of results, and the machine under it."""
    table = Table(title=title, caption=machine())
    for column in columns:
        table.add_column(column, justify="left" if column == "job" else "right")
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=120).print(table)
