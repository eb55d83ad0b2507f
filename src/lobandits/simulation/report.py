"""A result as a table that prints, and as a picture of regret over rounds.

Colours come from the palettes of Okabe and Ito and of Tol, which colour-blind readers can tell
apart; UCB-like policies are dashed.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.orders.plot import figure_of, plain
from lobandits.simulation.problems import Environment

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.simulation.result import Result

BOUND_USERS = 50  # of so many users the lower bound is computed, at most
BAND = 2.0  # half the height of a band, in standard errors
HEADERS = {"error": "+-", "times_bound": "x bound", "cpu_seconds": "CPU s"}

Line = tuple[int, tuple[float, ...]]
SOLID: Line = (0, ())
DASHED: Line = (0, (5.0, 1.8))
VARIANTS: tuple[Line, ...] = (  # of a policy's second, third and fourth set of options
    (0, (1.2, 1.4)),
    (0, (6.0, 1.5, 1.2, 1.5)),
    (0, (6.0, 1.5, 1.2, 1.5, 1.2, 1.5)),
)
POLICY_STYLES: dict[str, tuple[str, Line, str]] = {  # colour, line and marker
    "ucb": ("#8c8c8c", DASHED, "s"),
    "ts": ("#009e73", SOLID, "o"),
    "mucb": ("#56b4e9", DASHED, "v"),
    "mts": ("#0072b2", SOLID, "^"),
    "lobucb": ("#e69f00", DASHED, "D"),
    "lobts": ("#d55e00", SOLID, "o"),
    "toparms": ("#cc79a7", DASHED, "P"),
    "lobimed": ("#999933", DASHED, "X"),
    "lobids": ("#aa4499", SOLID, "p"),
}
OTHERS = ("#cc6677", "#44aa99", "#ddcc77", "#6699cc", "#997700")  # policies not of ours


@dataclass(frozen=True)
class Summary:
    """One row per policy: mean cumulative regret at the horizon, its standard error, seconds.

    ``rows`` have the keys policy, regret, error, seconds, cpu_seconds; with the lower bound also
    times_bound, and a ``note`` in words.
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
        columns = [
            _column(HEADERS.get(key, key), [row[key] for row in self.rows]) for key in self.rows[0]
        ]
        lines = [self.title, "", *map("  ".join, zip(*columns, strict=True))]
        return "\n".join([*lines, "", self.note] if self.note else lines)

    __repr__ = __str__


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
    title = (
        f"{result.settings['environment']}\nmean cumulative regret of {result.n_users:,} users "
        f"after {result.horizon:,} rounds, seed {result.settings['seed']}"
    )
    note = (
        f"lower bound: c log T = {floor:.4g} with c = {constant:.4g}, "
        f"the mean over the problems of {min(result.n_users, BOUND_USERS)} users (asymptotic)"
    )
    return Summary(title, tuple(rows), note if bound else "")


def mean_lower_bound(env: Environment, n: int, seed: int) -> float:
    """Return the mean constant of the lower bound over the first ``n`` users."""
    from lobandits.theory import regret_lower_bound

    problems = env.sample(n, seed)
    known: dict[tuple[bytes, LatentOrders], float] = {}
    constants = []
    for user, means in enumerate(problems.means):
        orders = problems.orders
        key = means.tobytes(), orders[user] if isinstance(orders, UserOrders) else orders
        if key not in known:
            known[key] = regret_lower_bound(means, key[1], problems.sigma).constant
        constants.append(known[key])
    return math.fsum(constants) / n


def line_styles(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the colour, line and marker of each label: keywords of ``Axes.plot``.

    A policy with options, as in "lobts(project_every=10)", has its policy's colour; if the same
    policy comes again, with other options, its line is dotted.
    """
    styles: dict[str, dict[str, Any]] = {}
    others = cycle(OTHERS)
    seen: Counter[str] = Counter()
    for label in labels:
        name = label.partition("(")[0].strip()
        if name in POLICY_STYLES:
            color, line, marker = POLICY_STYLES[name]
        else:
            color, line, marker = next(others), SOLID, "."
            name = label
        if seen[name]:
            line = VARIANTS[(seen[name] - 1) % len(VARIANTS)]
        seen[name] += 1
        styles[label] = {"color": color, "linestyle": line, "marker": marker}
    return styles


def plot_regret(
    result: "Result", ax: "Axes | None", bound: bool, cumulative: bool, window: int
) -> "Figure":
    """Draw mean regret over rounds."""
    from matplotlib.figure import Figure

    if bound and not cumulative:
        raise LobInputError("the lower bound is on cumulative regret; plot that, or bound=False")
    axes = ax or Figure(figsize=(7.6, 4.2), layout="constrained").add_subplot()
    rounds = np.arange(1, result.horizon + 1)
    for policy, style in line_styles(result.policies).items():
        mean, error = (
            result.cumulative(policy) if cumulative else result.instantaneous(policy, window)
        )
        style = style | {"marker": "", "label": plain(policy)}
        (line,) = axes.plot(rounds, mean, linewidth=1.6, **style)
        if result.n_users > 1:
            low, high = mean - BAND * error, mean + BAND * error
            axes.fill_between(rounds, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    if bound:
        floor = result.lower_bound() * np.log(rounds)
        axes.plot(rounds, floor, "k--", linewidth=1.2, label="lower bound $c$ log $t$")
    what = "cumulative regret" if cumulative else "regret"
    over = f", mean of the last {window} rounds" if window > 1 and not cumulative else ""
    axes.set(xlabel="round", ylabel=f"{what}{over}", xlim=(1, max(result.horizon, 2)))
    axes.set_title(f"Mean of {result.n_users:,} users, ± {BAND:g} standard errors", fontsize=10)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    if ax is None:  # a figure of our own has room to the right of the curves
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        axes.legend(frameon=False)
    return figure_of(axes)
