"""What a run found: regret by policy, user and round; and its table in print."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits.basics.checks import FloatArray, one_of, whole
from lobandits.basics.tables import Tabular, text_table
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.simulation.moments import Curve, Difference, Moments, mean_difference
from lobandits.simulation.problems import Environment

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_USERS = 50  # of so many users the lower bound is computed, at most
HEADERS = {"error": "+-", "times_bound": "x bound", "cpu_seconds": "CPU s"}


@dataclass(frozen=True, eq=False, repr=False)
class Result(Tabular):
    """The regret of each policy, and what it cost to compute.

    Attributes
    ----------
    settings
        What decided the numbers: environment, policies, horizon, n_users, seed, keep.
    totals
        Each user's cumulative regret at the horizon, by policy: (n_users,).
    seconds, cpu_seconds
        Each policy's share of the run's wall time, without compiling, and the processor time
        that it used on all workers.

    Examples
    --------
    >>> import lobandits as lob
    >>> env = lob.Synthetic(n_arms=5, n_states=5)
    >>> result = lob.simulate(env, ["ucb", "lobts"], horizon=50, n_users=16, progress=False)
    >>> bool(result.difference("lobts", "ucb").mean < 0)
    True
    """

    settings: Mapping[str, Any]
    totals: Mapping[str, FloatArray]
    moments: Mapping[str, Moments]
    seconds: dict[str, float]
    cpu_seconds: dict[str, float]
    users: Mapping[str, FloatArray] | None = None
    env: Environment | None = None
    constants: dict[str, float] = field(default_factory=dict)

    def _rows(self) -> Sequence[dict[str, Any]]:
        return self.summary().rows

    def _caption(self) -> str:
        return self.summary().title

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies' labels, in the order given."""
        return tuple(self.totals)

    @property
    def horizon(self) -> int:
        """Rounds for each user."""
        return int(self.settings["horizon"])

    @property
    def n_users(self) -> int:
        """Number of users."""
        return int(self.settings["n_users"])

    @property
    def regret(self) -> Mapping[str, FloatArray]:
        """Instantaneous regret by policy: (n_users, horizon)."""
        if self.users is None:
            raise LobInputError(
                "this result has no regret by user and round; simulate with keep='all'"
            )
        return self.users

    def cumulative(self, policy: str) -> Curve:
        """Return the mean cumulative regret after each round, and its standard error."""
        return self.moments[self._known(policy)].curve(cumulative=True)

    def instantaneous(self, policy: str, window: int = 1) -> Curve:
        """Return the mean regret of each round, averaged over the last ``window`` rounds.

        With keep="mean" the error is then the average of the rounds' errors: never less than the
        true one.
        """
        window = whole("window", window)
        curve = self.moments[self._known(policy)].curve(cumulative=False)
        if window == 1:
            return curve
        if self.users is None:
            return Curve(*(_moving_average(values, window) for values in curve))
        smooth = _moving_average(self.users[policy], window)
        return Moments.of(smooth).curve(cumulative=False)

    def difference(self, policy: str, other: str, level: float = 0.95) -> Difference:
        """Return how much more total regret ``policy`` has than ``other``, paired by user.

        The interval is Student's: mean -+ t(level, n - 1) standard errors.
        """
        pairs = self.totals[self._known(policy)] - self.totals[self._known(other)]
        return mean_difference(policy, other, pairs, level)

    def lower_bound(self) -> float:
        """Return c of the asymptotic lower bound c log T on regret, for latent orders.

        The mean of :func:`lobandits.regret_lower_bound` over the run's first users, at most 50;
        for Gaussian rewards.
        """
        if "lob" not in self.constants:
            if self.env is None:
                raise LobInputError(
                    "this result was saved without its lower bound; "
                    "call lower_bound() before save()"
                )
            n = min(self.n_users, MOST_USERS)
            self.constants["lob"] = mean_lower_bound(self.env, n, int(self.settings["seed"]))
        return self.constants["lob"]

    def summary(self, bound: bool = False) -> "Summary":
        """Return a table: regret at the horizon, with ``bound`` also over c log T, and seconds."""
        return _summarize(self, bound)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        bound: bool = False,
        cumulative: bool = True,
        window: int = 1,
    ) -> "Figure":
        """Draw each policy's mean regret with a band of two standard errors.

        ``bound`` adds the lower bound c log t; without ``cumulative`` it is the regret of each
        round, a moving average over ``window`` rounds.
        """
        from lobandits.simulation.regret_plot import plot_regret

        return plot_regret(self, ax, bound, cumulative, window)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to a file, NumPy's .npz, atomically."""
        from lobandits.simulation.result_file import save_result

        return save_result(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Result":
        """Read what :meth:`save` wrote."""
        from lobandits.simulation.result_file import load_result

        return load_result(path)

    def _known(self, policy: str) -> str:
        return one_of("policy", policy, self.policies)

    def __repr__(self) -> str:
        return (
            f"Result({', '.join(self.policies)}: {self.n_users} users, horizon {self.horizon}, "
            f"seed {self.settings['seed']})"
        )


def _moving_average(values: FloatArray, window: int) -> FloatArray:
    """Average the last axis over the last ``window`` places, or as many as there are."""
    sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), values.cumsum(axis=-1)], axis=-1)
    ends = np.arange(1, values.shape[-1] + 1)
    starts = np.maximum(ends - window, 0)
    return np.asarray((sums[..., ends] - sums[..., starts]) / (ends - starts))


def mean_lower_bound(env: Environment, n: int, seed: int) -> float:
    """Return the mean constant of the lower bound over the first ``n`` users."""
    from lobandits.theory import regret_lower_bound

    problems = env.sample(n, seed)
    if problems.changes is not None:
        raise LobInputError("users change, and the lower bound needs users who stay as they are")
    known: dict[tuple[bytes, LatentOrders], float] = {}
    constants = []
    for user, means in enumerate(problems.means):
        orders = problems.known_orders
        key = means.tobytes(), orders[user] if isinstance(orders, UserOrders) else orders
        if key not in known:
            known[key] = regret_lower_bound(means, key[1], problems.sigma).constant
        constants.append(known[key])
    return math.fsum(constants) / n


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
        named = [{HEADERS.get(key, key): row[key] for key in row} for row in self.rows]
        parts = [self.title, text_table(named, _cells, rule="-"), *filter(None, [self.note])]
        return "\n\n".join(parts)

    __repr__ = __str__


def _summarize(result: Result, bound: bool) -> Summary:
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
        f"the mean over the problems of {min(result.n_users, MOST_USERS)} users (asymptotic)"
    )
    return Summary(title, tuple(rows), note if bound else "")


def _cells(values: Sequence[Any]) -> list[str]:
    """Return a column's cells, numbers with the same digits; "-" for nan."""
    if isinstance(values[0], str):
        return list(values)
    largest = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
    digits = 1 if largest >= 100 else 2
    return ["-" if math.isnan(value) else f"{value:,.{digits}f}" for value in values]
