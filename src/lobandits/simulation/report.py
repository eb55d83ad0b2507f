"""A result as a table that prints, and converts to data frames."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lobandits.simulation.problems import Environment

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from lobandits.simulation.result import Result

BOUND_USERS = 50
"""Of how many users the lower bound is computed, at most."""
HEADERS = {
    "policy": "policy",
    "regret": "regret",
    "error": "+-",
    "times_bound": "x bound",
    "seconds": "seconds",
    "cpu_seconds": "CPU s",
}


@dataclass(frozen=True)
class Summary:
    """One row per policy: mean cumulative regret at the horizon, its standard error, seconds.

    Attributes
    ----------
    title
        What was simulated.
    rows
        One mapping per policy, with the keys policy, regret, error, seconds, cpu_seconds, and
        times_bound where the lower bound was asked for.
    note
        The lower bound in words, or nothing.
    """

    title: str
    rows: tuple[dict[str, Any], ...]
    note: str = ""

    def to_polars(self) -> "pl.DataFrame":
        """Return the rows as a polars data frame."""
        import polars as pl

        return pl.DataFrame(list(self.rows))

    def to_pandas(self) -> "pd.DataFrame":
        """Return the rows as a pandas data frame; pandas must be installed."""
        import pandas as pd

        return pd.DataFrame(list(self.rows))

    def __str__(self) -> str:
        columns = [[HEADERS[key], *_cells([row[key] for row in self.rows])] for key in self.rows[0]]
        lines = [self.title, "", *_aligned(list(zip(*columns, strict=True)))]
        return "\n".join([*lines, "", self.note] if self.note else lines)

    __repr__ = __str__


def summarize(result: "Result", bound: bool) -> Summary:
    """Return the table of a result; see :meth:`lobandits.simulation.Result.summary`."""
    horizon = result.horizon
    floor = result.lower_bound() * math.log(horizon) if bound else math.nan
    rows = []
    for policy in result.policies:
        mean, error = result.cumulative(policy)
        regret = float(mean[-1])
        row: dict[str, Any] = {"policy": policy, "regret": regret, "error": float(error[-1])}
        if bound:
            row["times_bound"] = regret / floor if floor > 0 else math.nan
        row |= {"seconds": result.seconds[policy], "cpu_seconds": result.cpu_seconds[policy]}
        rows.append(row)
    return Summary(
        title=f"{result.settings['environment']}\nmean cumulative regret of "
        f"{result.n_users:,} users after {horizon:,} rounds, seed {result.settings['seed']}",
        rows=tuple(rows),
        note=_note(result, floor) if bound else "",
    )


def _note(result: "Result", floor: float) -> str:
    users = min(result.n_users, BOUND_USERS)
    return (
        f"lower bound: c log T = {floor:.4g} with c = {result.lower_bound():.4g}, "
        f"the mean over the problems of {users} users (asymptotic)"
    )


def mean_lower_bound(env: Environment, n: int, seed: int) -> float:
    """Return the mean constant of the lower bound over the first ``n`` users' problems."""
    from lobandits.orders import UserOrders
    from lobandits.theory import regret_lower_bound

    problems = env.sample(n, seed)
    known: dict[tuple[bytes, int], float] = {}
    constants = []
    for user, means in enumerate(problems.means):
        orders, whose = problems.orders, -1
        if isinstance(orders, UserOrders):
            orders, whose = orders[user], user
        key = means.tobytes(), whose
        if key not in known:
            known[key] = regret_lower_bound(means, orders, problems.sigma).constant
        constants.append(known[key])
    return math.fsum(constants) / n


def _cells(values: Sequence[Any]) -> list[str]:
    """Return a column's cells, numbers with the same digits; "-" where there is none."""
    if isinstance(values[0], str):
        return list(values)
    largest = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
    digits = 1 if largest >= 100 else 2
    return ["-" if math.isnan(value) else f"{value:,.{digits}f}" for value in values]


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines: the first column to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = []
    for row in table:
        numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *numbers]))
    rule = "  ".join("-" * width for width in widths)
    return [lines[0], rule, *lines[1:]]
