"""Progress on standard error, where somebody can see it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager


@contextmanager
def progress_bar(
    total: int | None, wanted: bool | Callable[[int], None], doing: str, unit: str = ""
) -> Iterator[Callable[[int], None]]:
    """Yield the function that moves the bar on; without a terminal it does nothing.

    The bar reads "``doing`` ... 50% of ``total`` ``unit``". A function given instead of True or
    False moves a bar of the caller's own.
    """
    if callable(wanted) or not wanted:
        yield wanted or (lambda steps: None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield lambda steps: None
        return
    share = "{task.percentage:>3.0f}% of " + f"{total or 0:,} {unit}"
    turning = (SpinnerColumn(), TimeElapsedColumn())
    moving = (BarColumn(), share, TimeRemainingColumn())
    columns = turning if total is None else moving
    with Progress("{task.description}", *columns, console=console, transient=True) as progress:
        task = progress.add_task(doing, total=total)
        yield lambda steps: progress.update(task, advance=steps)


def spinner(wanted: bool, doing: str) -> AbstractContextManager[object]:
    """Show ``doing`` and the time that it takes, where nobody knows how much there is to do."""
    return progress_bar(None, wanted, doing)
