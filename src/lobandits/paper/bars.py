"""Progress bars of a run: of all experiments, and of those that are at work."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class ProgressBars:
    """Bars with the time left, which show only if standard error is a terminal."""

    def __init__(self, bars: "Progress", costs: Mapping[str, float]) -> None:
        self._bars, self._costs = bars, costs
        self._all = bars.add_task("all experiments", total=sum(costs.values()))
        self._shown: dict[str, TaskID] = {}
        self._moving = Lock()

    def advance(self, name: str, cost: float) -> None:
        """Move the bar of an experiment on, from any thread; it shows from its first step on."""
        with self._moving:
            if name not in self._shown:
                self._shown[name] = self._bars.add_task(name, total=self._costs[name])
            self._bars.advance(self._all, cost)
            self._bars.advance(self._shown[name], cost)

    def finish(self, name: str) -> None:
        """Take the bar of an experiment away."""
        with self._moving:
            if name in self._shown:
                self._bars.remove_task(self._shown.pop(name))

    def say(self, text: str) -> None:
        """Print a line above the bars, where they show."""
        if not self._bars.disable:
            self._bars.console.print(text, markup=False, highlight=False)


@contextmanager
def progress_bars(wanted: bool, costs: Mapping[str, float]) -> Iterator[ProgressBars]:
    """Show bars of experiments that cost so much, until the work is done."""
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
        yield ProgressBars(bars, costs)
