"""Progress on standard error, where somebody can see it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def progress_bar(
    total: int, wanted: bool | Callable[[int], None], doing: str, unit: str
) -> Iterator[Callable[[int], None]]:
    """Yield the function that moves the bar on; without a terminal it does nothing.

    The bar reads "``doing`` ... 50% of ``total`` ``unit``". A function given instead of True or
    False moves a bar of the caller's own.
    """
    if callable(wanted):
        yield wanted
        return
    console = _terminal(wanted)
    if console is None:
        yield lambda steps: None
        return
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    share = "{task.percentage:>3.0f}% of {task.fields[size]}"
    columns = ("{task.description}", BarColumn(), share, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(doing, total=total, size=f"{total:,} {unit}")
        yield lambda steps: progress.update(task, advance=steps)


@contextmanager
def spinner(wanted: bool, doing: str) -> Iterator[None]:
    """Show ``doing`` and the time that it takes, where nobody knows how much there is to do."""
    console = _terminal(wanted)
    if console is None:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

    columns = ("{task.description}", SpinnerColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(doing, total=None)
        yield


def _terminal(wanted: bool) -> "Console | None":
    """Return standard error, if progress is wanted and somebody looks at it."""
    if not wanted:
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal or console.is_jupyter else None
