"""choose_n_states: the number of states that serves new users best."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from lobandits._checks import FloatArray, IntArray, positive, whole
from lobandits._progress import progress_bar, spinner
from lobandits.errors import LobInputError
from lobandits.learning import RewardTable, learn_orders, reward_table
from lobandits.learning.imputation import impute
from lobandits.learning.learn import n_told
from lobandits.learning.logs import Logs
from lobandits.orders import LatentOrders
from lobandits.selection.choice import StatesChoice
from lobandits.simulation import FixedProblems, simulate

MOST_HELD_OUT = 1000
MOST_STATES = 128
USERS_PER_STATE = 10


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

    Some users are held out at random. For each m, orders are learned from all others, and lobTS
    decides with them for the held-out users, whose own mean rewards are the truth (the paper's
    Setting B; the mean of an arm never tried is imputed). All m meet the same noise.

    Parameters
    ----------
    logs, user, arm, reward, min_user_rewards, min_arm_rewards
        The rewards, the names of their columns, and how many a user or an arm must have; see
        `reward_table`.
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
        Show what is being done, and a progress bar, if standard error is a terminal.
    options
        Further arguments of `learn_orders`, such as centroid, relations or n_init.

    Examples
    --------
    >>> from lobandits.learning import make_ratings
    >>> ratings = make_ratings(n_users=60, n_arms=4, n_states=2, ratings_per_user=40)
    >>> choice = choose_n_states(ratings.table, "userId", "genre", "rating", grid=[1, 2],
    ...                          horizon=50)
    >>> [row["n_states"] for row in choice.table]
    [1, 2]
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
    numbers = _check_grid(grid, n_told(rest))
    test = _HeldOut(table, held, rest.arms, sigma, horizon, seed)
    found, distances, regrets = [], [], []
    with progress_bar(len(numbers), progress, "learning and simulating", "runs") as advance:
        for m in numbers:
            model = learn_orders(rest, n_states=m, seed=seed, **options)
            found.append(model.orders.n_states)
            distances.append(model.distances(test.tried).min(axis=1))
            regrets.append(test.regret(model.orders, "lobts"))
            advance(1)
    baseline = test.regret(model.orders, "ts")
    return StatesChoice(
        numbers, np.array(found), np.stack(distances), np.stack(regrets), baseline, horizon
    )


class _HeldOut:
    """The users on whom orders are tried."""

    def __init__(
        self,
        table: RewardTable,
        users: IntArray,
        arms: tuple[str, ...],
        sigma: float,
        horizon: int,
        seed: int,
    ) -> None:
        columns = [table.arms.index(name) for name in arms]
        self.tried = table.means[users][:, columns]
        self.means = impute(table.means)[0][users][:, columns]
        self.sigma, self.horizon, self.seed = sigma, horizon, seed

    def regret(self, orders: LatentOrders, policy: str) -> FloatArray:
        """Return each user's regret at the horizon."""
        env = FixedProblems(self.means, orders, self.sigma)
        n = len(self.means)
        run = simulate(env, [policy], self.horizon, n, self.seed, progress=False, keep="mean")
        return run.totals[policy]


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
    if math.isnan(noise) or noise == 0:
        raise LobInputError(
            "the logs do not tell how far rewards lie from their mean, as no user has two "
            "different rewards from one arm; give sigma"
        )
    return noise


def _check_grid(grid: Iterable[int] | None, n_users: int) -> IntArray:
    """Return the numbers of states in increasing order, each once."""
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
