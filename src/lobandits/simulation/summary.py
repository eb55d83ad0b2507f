"""A result as a table that prints."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lobandits._tables import Tabular
from lobandits.simulation.result import MOST_USERS

if TYPE_CHECKING:
    import polars as pl

    from lobandits.simulation.result import Result

HEADERS = {"error": "+-", "times_bound": "x bound", "cpu_seconds": "CPU s"}


@dataclass(frozen=True)
class Summary(Tabular):
    """One row per policy: mean cumulative regret at the horizon, its standard error, seconds.

    ``rows`` have the keys policy, regret, error, seconds, cpu_seconds; with the lower bound also
    times_bound, and a ``note`` in words.
    """

    title: str
    rows: tuple[dict[str, Any], ...]
    note: str = ""

    def to_polars(self) -> "pl.DataFrame":
        """Return the rows as a polars data frame; polars must be installed."""
        import polars as pl

        return pl.DataFrame(list(self.rows))

    def _rows(self) -> Sequence[dict[str, Any]]:
        return self.rows

    def _caption(self) -> str:
        return self.title

    def __str__(self) -> str:
        columns = [
            _column(HEADERS.get(key, key), [row[key] for row in self.rows]) for key in self.rows[0]
        ]
        lines = [self.title, "", *map("  ".join, zip(*columns, strict=True))]
        return "\n".join([*lines, "", self.note] if self.note else lines)

    __repr__ = __str__


def summarize(result: "Result", bound: bool) -> Summary:
    """Return the table of a result."""
    constant = result.lower_bound() if bound else math.nan
    floor = constant * math.log(result.horizon)
    rows = []
    for policy in result.policies:
        mean, error = result.cumulative(policy)
        regret = float(mean[-1])
        row: dict[str, Any] = {"policy": policy, "regret": regret, "error": float(error[-1])}
        if bound:
            row["times_bound"] = regret / floor if floor > 0 else math.nan
        row |= {"seconds": result.seconds[policy], "cpu_seconds": result.cpu_seconds[policy]}
        rows.append(row)
    rounds = result.settings.get("feedback", "rounds")
    title = (
        f"{result.settings['environment']}\nmean cumulative regret of {result.n_users:,} users "
        f"after {result.horizon:,} {rounds}, seed {result.settings['seed']}"
    )
    note = (
        f"lower bound: c log T = {floor:.4g} with c = {constant:.4g}, "
        f"the mean over the problems of {min(result.n_users, MOST_USERS)} users (asymptotic)"
    )
    return Summary(title, tuple(rows), note if bound else "")


def _column(header: str, values: Sequence[Any]) -> list[str]:
    """Return a column's cells, all of one width, numbers with the same digits; "-" for nan."""
    if isinstance(values[0], str):
        cells, align = [header, *values], str.ljust
    else:
        largest = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
        digits = 1 if largest >= 100 else 2
        numbers = ["-" if math.isnan(value) else f"{value:,.{digits}f}" for value in values]
        cells, align = [header, *numbers], str.rjust
    width = max(map(len, cells))
    cells.insert(1, "-" * width)
    return [align(cell, width) for cell in cells]
