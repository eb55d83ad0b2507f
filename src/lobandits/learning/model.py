"""OrderModel: the orders learned from users' rewards, and who belongs to which state."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import FloatArray, IntArray, number_array
from lobandits.errors import LobInputError
from lobandits.learning.kendall import PairSigns, distances, nearest, pair_signs, relation_signs
from lobandits.learning.logs import Logs, read_logs
from lobandits.learning.table import RewardTable
from lobandits.orders import LatentOrders
from lobandits.orders.arms import arm_index

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rewards = Logs | NDArray[Any] | Sequence[Sequence[float]]
"""Logs, or means (n_users, n_arms) with nan where an arm was not tried."""


@dataclass(frozen=True, eq=False)
class OrderModel:
    """The orders of m latent states, and what else the logs say about the states.

    `learn_orders` and `exact_orders` make one.

    Parameters
    ----------
    orders
        The states' orders, with the arms' names from the logs.
    users : (n,)
        The users learned from, as in the logs.
    labels : (n,)
        The state of each user.
    state_means : (m, k)
        The average of the members' means, for mUCB and mTS.
    imputed_share
        Share of the users' means that had to be imputed, as the arm was never tried.
    sigma
        Standard deviation of the rewards around each user's mean, from the logs; nan if no user
        tried an arm twice.
    merged
        How many states were merged into one of the same order, or lost all users.

    Examples
    --------
    >>> from lobandits.learning import learn_orders
    >>> logs = {"user": [1, 1, 2, 2, 3, 3], "arm": ["x", "y"] * 3, "reward": [4, 1, 3, 2, 2, 5]}
    >>> import polars as pl
    >>> model = learn_orders(pl.DataFrame(logs), n_states=2)
    >>> print(model.orders)
    state 0: x > y
    state 1: y > x
    >>> model.labels, model.sizes
    (array([0, 0, 1]), array([2, 1]))
    >>> model.predict([[3.0, 3.5]])
    array([1])
    """

    orders: LatentOrders
    users: NDArray[Any]
    labels: IntArray
    state_means: FloatArray
    imputed_share: float
    sigma: float
    merged: int

    @property
    def n_users(self) -> int:
        """The number of users learned from, n."""
        return len(self.users)

    @property
    def sizes(self) -> IntArray:
        """The number of users of each state, (m,)."""
        return np.bincount(self.labels, minlength=self.orders.n_states)

    def predict(
        self, rewards: Rewards, user: str = "user", arm: str = "arm", reward: str = "reward"
    ) -> IntArray:
        """Return the state of each user: the nearest order, the first of equals.

        A user who tried fewer than two arms gets the state with the most users.

        Parameters
        ----------
        rewards
            Logs, whose users are answered in sorted order as by `reward_table`; or means
            (n, k), nan where an arm was not tried.
        user, arm, reward
            The logs' columns. Arms are matched by name.
        """
        users = self._signs(rewards, user, arm, reward)
        labels, _ = nearest(users, relation_signs(self.orders.precedes))
        labels[users.tried == 0] = self.sizes.argmax()
        return labels

    def distances(
        self, rewards: Rewards, user: str = "user", arm: str = "arm", reward: str = "reward"
    ) -> FloatArray:
        """Return Kendall's tau distance of each user to each state's order, (n, m).

        The share of the pairs of arms tried by the user that the order ranks oppositely; pairs
        that are tied, or that the order leaves open, count half. Arguments as for `predict`.
        """
        users = self._signs(rewards, user, arm, reward)
        return distances(users, relation_signs(self.orders.precedes))

    def _signs(self, rewards: Rewards, user: str, arm: str, reward: str) -> PairSigns:
        if isinstance(rewards, np.ndarray | list | tuple) and not _are_paths(rewards):
            return pair_signs(self._checked(number_array("means", rewards)))
        return pair_signs(self._matched(read_logs(rewards, user, arm, reward), arm))

    def _checked(self, means: FloatArray) -> FloatArray:
        if means.ndim != 2 or means.shape[1] != self.orders.n_arms:
            raise LobInputError(
                f"means must have shape (n_users, {self.orders.n_arms}), got {means.shape}"
            )
        if np.isinf(means).any():
            u, a = np.argwhere(np.isinf(means))[0].tolist()
            raise LobInputError(f"means[{u}, {a}] is {means[u, a]}; leave out with nan")
        return means

    def _matched(self, table: RewardTable, arm: str) -> FloatArray:
        """Return the table's means, with the model's arms for columns."""
        try:
            columns = [arm_index(self.orders.arms, name) for name in table.arms]
        except LobInputError as error:
            raise LobInputError(f"column {arm!r}: {error}. Leave out the rows of others") from None
        means = np.full((table.n_users, self.orders.n_arms), np.nan)
        means[:, columns] = table.means
        return means

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, from which `LatentOrders.load` reads the orders."""
        from lobandits.learning.storage import save_model

        save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "OrderModel":
        """Return the model saved in a JSON file."""
        from lobandits.learning.storage import load_model

        return load_model(path)

    def plot(self) -> "Figure":
        """Draw the arms' ranks in each state, the largest state on top, and the states' sizes."""
        from lobandits.learning.plot import plot_model

        return plot_model(self)

    def __repr__(self) -> str:
        kind = "total" if self.orders.is_total else "partial"
        return (
            f"OrderModel(n_states={self.orders.n_states}, n_arms={self.orders.n_arms}, "
            f"n_users={self.n_users}, {kind}, merged={self.merged}, "
            f"imputed_share={self.imputed_share:.3g}, sigma={self.sigma:.3g})"
        )


def _are_paths(rewards: Any) -> bool:
    return len(rewards) > 0 and all(isinstance(path, str | os.PathLike) for path in rewards)
