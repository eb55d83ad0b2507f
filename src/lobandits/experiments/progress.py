"""Two progress bars on standard error: this experiment, and all of them, with the time left."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Progress:
    """How much of the work is done, in units of cost; silent where nobody watches."""

    def __init__(self, bars: Any, total: float) -> None:
        self._bars = bars
        self._overall = bars and bars.add_task("all experiments", total=total)
        self._current: Any = None

    def start(self, name: str, total: float) -> None:
        """Begin an experiment."""
        if self._bars:
            if self._current is not None:
                self._bars.remove_task(self._current)
            self._current = self._bars.add_task(name, total=total)

    def advance(self, cost: float) -> None:
        """Move both bars on."""
        if self._bars:
            self._bars.advance(self._overall, cost)
            self._bars.advance(self._current, cost)

    def say(self, line: str) -> None:
        """Print a line above the bars."""
        if self._bars:
            self._bars.console.print(line, markup=False, highlight=False)


@contextmanager
def show_progress(total: float, wanted: bool) -> Iterator[Progress]:
    """Yield the bars, if they are wanted and standard error is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    if not wanted or not console.is_terminal:
        yield Progress(None, total)
        return
    columns = (
        TextColumn("{task.description:<16}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True, speed_estimate_period=120) as bars:
        yield Progress(bars, total)


def stopwatch() -> Callable[[], float]:
    """Return the function that says how many seconds have passed."""
    began = time.perf_counter()
    return lambda: time.perf_counter() - began
