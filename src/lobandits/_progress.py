"""A progress bar on standard error, where somebody can see it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
    if not wanted:
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield _ignore
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}% of {task.fields[size]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(doing, total=total, size=f"{total:,} {unit}")
        yield lambda steps: progress.update(task, advance=steps)


def _ignore(steps: int) -> None:
    """Do nothing."""
