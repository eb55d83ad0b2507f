"""Progress bars of a run: one for all experiments, one for the experiment at work."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


class ProgressBars:
    """Bars with the time left, which show only if standard error is a terminal."""

    def __init__(self, bars: "Progress", total: float) -> None:
        self._bars = bars
        bars.add_task("all experiments", total=total)

    @contextmanager
    def experiment(self, name: str, cost: float) -> Iterator[None]:
        """Show a bar for an experiment while it is at work."""
        task = self._bars.add_task(name, total=cost)
        yield
        self._bars.remove_task(task)

    def advance(self, cost: float) -> None:
        """Move all bars on."""
        for task in self._bars.task_ids:
            self._bars.advance(task, cost)

    def say(self, text: str) -> None:
        """Print a line above the bars, where they show."""
        if not self._bars.disable:
            self._bars.console.print(text, markup=False, highlight=False)


@contextmanager
def progress_bars(wanted: bool, total: float) -> Iterator[ProgressBars]:
    """Show bars of so much work in all, until the work is done."""
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    console = Console(stderr=True)
    with Progress(
        TimeElapsedColumn(),
        *Progress.get_default_columns(),
        console=console,
        transient=True,
        speed_estimate_period=120,
        disable=not wanted or not console.is_terminal,
    ) as bars:
        yield ProgressBars(bars, total)
