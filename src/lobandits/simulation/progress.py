"""A progress bar on standard error, where somebody can see it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    total: int, wanted: bool | Callable[[int], None]
) -> Iterator[Callable[[int], None]]:
    """Yield the function that moves the bar on; without a terminal it does nothing.

    A function given instead of True or False moves a bar of the caller's own.
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
        TextColumn("simulating"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}% of {task.fields[size]} decisions"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total, size=f"{total:,}")
        yield lambda decisions: progress.update(task, advance=decisions)


def _ignore(decisions: int) -> None:
    """Do nothing."""
