"""choose_n_states: the number of states that serves new users best."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._checks import FloatArray, IntArray, positive, whole
from lobandits._progress import progress_bar, spinner
from lobandits.errors import LobInputError
from lobandits.learning import RewardTable, learn_orders, reward_table
from lobandits.learning.learn import n_told
from lobandits.learning.logs import Logs
from lobandits.learning.table import impute
from lobandits.orders import LatentOrders
from lobandits.simulation import FixedProblems, simulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_HELD_OUT = 1000
MOST_STATES = 128
USERS_PER_STATE = 10


@dataclass(frozen=True, eq=False)
class StatesChoice:
    """Held-out distances and regrets for a grid of m, and the m recommended.

    Parameters
    ----------
    grid : (g,)
        Numbers of states, increasing.
    found : (g,)
        How many were left after equal orders were merged.
    distances : (g, n)
        Kendall's tau distance of each held-out user to the nearest order.
    regrets : (g, n)
        Each held-out user's regret of lobTS after ``horizon`` rounds.
    baseline : (n,)
        The same of TS, which knows no orders.
    horizon
        Rounds simulated.

    Examples
    --------
    >>> grid, distances = np.array([1, 2]), np.array([[0.4, 0.3], [0.1, 0.2]])
    >>> regrets, baseline = np.array([[9.0, 8.0], [3.0, 4.0]]), np.array([7.0, 9.0])
    >>> StatesChoice(grid, grid, distances, regrets, baseline, horizon=50)
      states   found   distance      +-     regret      +-
           1       1     0.3500  0.0500       8.50    0.50
           2       2     0.1500  0.0500       3.50    0.50  recommended
    2 held-out users, 50 rounds; regret of lobTS. Without orders, TS: 8.00 +- 1.00
    """

    grid: IntArray
    found: IntArray
    distances: FloatArray
    regrets: FloatArray
    baseline: FloatArray
    horizon: int

    @property
    def recommended(self) -> int:
        """The smallest m whose regret is within one standard error of the best's.

        The error is that of the mean difference, user by user.
        """
        best = self.regrets[self.regrets.mean(axis=1).argmin()]
        mean, error = _mean_and_error(self.regrets - best)
        return int(self.grid[np.flatnonzero(mean <= error)[0]])

    @property
    def table(self) -> tuple[dict[str, Any], ...]:
        """One row for each m: means over the held-out users, and their standard errors."""
        columns: dict[str, Any] = {"n_states": self.grid, "found": self.found}
        columns["distance"], columns["distance_error"] = _mean_and_error(self.distances)
        columns["regret"], columns["regret_error"] = _mean_and_error(self.regrets)
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        return tuple(dict(zip(columns, row, strict=True)) for row in rows)

    def plot(self) -> "Figure":
        """Draw both measures over m, with bars of one standard error."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.2, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        self._draw(left, self.regrets, f"regret of lobTS after {self.horizon:,} rounds")
        self._draw(right, self.distances, "Kendall distance to the nearest order")
        left.axhline(self.baseline.mean(), color="0.5", linestyle="--", linewidth=1, label="TS")
        left.legend(edgecolor="none", framealpha=1.0)
        return figure

    def _draw(self, axes: "Axes", values: FloatArray, label: str) -> None:
        mean, error = _mean_and_error(values)
        axes.errorbar(self.grid, mean, error, marker="o", markersize=4, capsize=2, linewidth=1.4)
        axes.axvline(self.recommended, color="C1", linewidth=1, label="recommended")
        axes.set_xscale("log", base=2)
        axes.set_xticks(self.grid, [str(m) for m in self.grid], fontsize=8)
        axes.minorticks_off()
        axes.set_xlabel("states")
        axes.set_ylabel(label)
        axes.spines[["top", "right"]].set_visible(False)

    def __str__(self) -> str:
        lines = ["  states   found   distance      +-     regret      +-"]
        for row in self.table:
            mark = "  recommended" if row["n_states"] == self.recommended else ""
            lines.append("{:8d}{:8d}{:11.4f}{:8.4f}{:11.2f}{:8.2f}".format(*row.values()) + mark)
        (mean,), (error,) = _mean_and_error(self.baseline[None])
        lines.append(
            f"{len(self.baseline):,} held-out users, {self.horizon:,} rounds; regret of lobTS. "
            f"Without orders, TS: {mean:.2f} +- {error:.2f}"
        )
        return "\n".join(lines)

    __repr__ = __str__


def _mean_and_error(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])


def choose_n_states(
    logs: Logs,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    grid: Iterable[int] | None = None,
    *,
    held_out: int | None = None,
    horizon: int = 200,
    sigma: float | None = None,
    min_user_rewards: int = 1,
    min_arm_rewards: int = 1,
    seed: int = 0,
    progress: bool = False,
    **options: Any,
) -> StatesChoice:
    r"""Find :math:`\min_m R(m)`, the held-out regret of lobTS with m orders learned from logs.

    For each m, orders are learned from a random part of the users, and lobTS decides with them
    for the others, whose own mean rewards are the truth (the paper's Setting B; the mean of an
    arm never tried is imputed). All m meet the same noise.

    Parameters
    ----------
    logs, user, arm, reward, min_user_rewards, min_arm_rewards
        As for `reward_table`.
    grid
        Numbers of states; by default 1, 2, 4, ... as long as there are ten users to each.
    held_out
        How many users to hold out; by default a quarter, at most 1000.
    horizon
        Rounds for each held-out user.
    sigma
        Standard deviation of the simulated rewards; by default as in the logs.
    seed
        Names all random numbers.
    progress
        Show a progress bar, if standard error is a terminal.
    options
        Further arguments of `learn_orders`, here by default with ``method="kendall"``.

    Examples
    --------
    >>> from lobandits.learning import make_ratings
    >>> ratings = make_ratings(n_users=60, n_arms=4, n_states=2, ratings_per_user=40)
    >>> choose_n_states(ratings.table, "userId", "genre", "rating", [2, 1], horizon=50).grid
    array([1, 2])
    """
    with spinner(progress, "adding up rewards"):
        table = reward_table(
            logs, user, arm, reward,
            min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards,
        )  # fmt: skip
    n = _check_held_out(held_out, table.n_users)
    horizon, seed = whole("horizon", horizon), whole("seed", seed, least=0)
    sigma = _check_sigma(sigma, table)
    order = np.random.default_rng(seed).permutation(table.n_users)
    held, rest = np.sort(order[:n]), table.take(np.sort(order[n:])).filter()
    options = {"method": "kendall"} | options
    numbers = _check_grid(grid, n_told(rest))
    columns = [table.arms.index(name) for name in rest.arms]
    tried, means = (part[held][:, columns] for part in (table.means, impute(table.means)[0]))

    def regret(orders: LatentOrders, policy: str) -> FloatArray:
        env = FixedProblems(means, orders, sigma)
        return simulate(env, [policy], horizon, n, seed, progress=False, keep="mean").totals[policy]

    found, distances, regrets = [], [], []
    with progress_bar(len(numbers), progress, "learning and simulating", "runs") as advance:
        for m in numbers:
            model = learn_orders(rest, n_states=m, seed=seed, **options)
            found.append(model.orders.n_states)
            distances.append(model.distances(tried).min(axis=1))
            regrets.append(regret(model.orders, "lobts"))
            advance(1)
    baseline = regret(model.orders, "ts")
    return StatesChoice(
        numbers, np.array(found), np.stack(distances), np.stack(regrets), baseline, horizon
    )


def _check_held_out(held_out: int | None, n_users: int) -> int:
    if n_users < 4:
        raise LobInputError(f"holding users out needs at least 4 users, got {n_users}")
    if held_out is None:
        return max(2, min(n_users // 4, MOST_HELD_OUT))
    return whole("held_out", held_out, least=2, most=n_users - 2)


def _check_sigma(sigma: float | None, table: RewardTable) -> float:
    if sigma is not None:
        return positive("sigma", sigma)
    noise = table.noise()
    if not noise > 0:  # nan if nobody has two rewards from one arm
        raise LobInputError(
            "the logs do not tell how far rewards lie from their mean, as no user has two "
            "different rewards from one arm; give sigma"
        )
    return noise


def _check_grid(grid: Iterable[int] | None, n_users: int) -> IntArray:
    if grid is None:
        most = max(1, min(MOST_STATES, n_users // USERS_PER_STATE))
        return 2 ** np.arange(int(math.log2(most)) + 1)
    try:
        numbers = {whole(f"grid[{i}]", m) for i, m in enumerate(grid)}
    except TypeError:
        numbers = set()
    if not numbers:
        raise LobInputError(f"grid must be a list of numbers of states, got {grid!r}")
    if max(numbers) > n_users:
        raise LobInputError(
            f"grid asks for {max(numbers)} states, but there are {n_users} users to learn from "
            "who tried two arms or more; lower it, or hold fewer users out"
        )
    return np.array(sorted(numbers))
