"""OrderModel: the orders learned from users' rewards, and who belongs to which state."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import (
    FloatArray,
    IntArray,
    finite_array,
    fraction,
    not_negative,
    number_array,
    shaped_array,
    whole,
)
from lobandits._versioned import read_versioned, write_versioned
from lobandits.errors import LobInputError
from lobandits.learning.centroids import averages
from lobandits.learning.imputation import impute
from lobandits.learning.kendall import PairSigns, distances, nearest, pair_signs, relation_signs
from lobandits.learning.logs import Logs, read_logs
from lobandits.learning.table import RewardTable
from lobandits.orders import LatentOrders
from lobandits.orders.arms import arm_index
from lobandits.orders.storage import MODEL_FORMAT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rewards = Logs | NDArray[Any] | Sequence[Sequence[float]]
"""Logs, or means (n_users, n_arms) with nan where an arm was not tried."""

VERSION = 1
FIELDS = ("orders", "state_means", "sigma", "imputed_share", "merged", "users", "labels")
NOUN = "a model written by OrderModel.save (LatentOrders.load reads orders alone)"


@dataclass(frozen=True, eq=False)
class OrderModel:
    """The orders of m latent states, and what else the logs say about the states.

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
        Share of the users' means that had to be imputed: of arms never tried.
    sigma
        Standard deviation of the rewards around each user's mean; nan if no user tried an arm
        twice.
    merged
        How many states were merged into one of the same order, or lost all users.

    Examples
    --------
    >>> import lobandits as lob, polars as pl
    >>> logs = {"user": [1, 1, 2, 2, 3, 3], "arm": ["x", "y"] * 3, "reward": [4, 1, 3, 2, 2, 5]}
    >>> model = lob.learn_orders(pl.DataFrame(logs), n_states=2)
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
            Logs, whose users are answered in sorted order; or means (n, k), nan where an arm
            was not tried.
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

        Pairs that are tied, or that the order leaves open, count half. Arguments as for `predict`.
        """
        users = self._signs(rewards, user, arm, reward)
        return distances(users, relation_signs(self.orders.precedes))

    def _signs(self, rewards: Rewards, user: str, arm: str, reward: str) -> PairSigns:
        if isinstance(rewards, np.ndarray | list | tuple) and not _are_paths(rewards):
            return pair_signs(self._checked(number_array("means", rewards)))
        table = read_logs(rewards, user, arm, reward)
        try:
            columns = [arm_index(self.orders.arms, name) for name in table.arms]
        except LobInputError as error:
            raise LobInputError(f"column {arm!r}: {error}. Leave out the rows of others") from None
        means = np.full((table.n_users, self.orders.n_arms), np.nan)
        means[:, columns] = table.means
        return pair_signs(means)

    def _checked(self, means: FloatArray) -> FloatArray:
        if means.ndim != 2 or means.shape[1] != self.orders.n_arms:
            raise LobInputError(
                f"means must have shape (n_users, {self.orders.n_arms}), got {means.shape}"
            )
        for u, a in np.argwhere(np.isinf(means)).tolist()[:1]:
            raise LobInputError(f"means[{u}, {a}] is {means[u, a]}; leave out with nan")
        return means

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, from which `LatentOrders.load` reads the orders."""
        known = (str, int, float)  # to JSON; dates and the like become text
        data = {
            "orders": self.orders.to_dict(),
            "state_means": self.state_means.tolist(),
            "sigma": None if math.isnan(self.sigma) else self.sigma,
            "imputed_share": self.imputed_share,
            "merged": self.merged,
            "users": [u if type(u) in known else str(u) for u in self.users.tolist()],
            "labels": self.labels.tolist(),
        }
        write_versioned(path, MODEL_FORMAT, VERSION, data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "OrderModel":
        """Return the model saved in a JSON file."""
        data = read_versioned(path, MODEL_FORMAT, VERSION, FIELDS, NOUN)
        orders = LatentOrders.from_dict(data["orders"], source=f"{path}: orders")
        users = _users(data["users"], f"{path}: users")
        sigma = data["sigma"]
        return cls(
            orders=orders,
            users=users,
            labels=_labels(data["labels"], len(users), orders.n_states, f"{path}: labels"),
            state_means=shaped_array(
                f"{path}: state_means", data["state_means"], (orders.n_states, orders.n_arms)
            ),
            imputed_share=fraction(f"{path}: imputed_share", data["imputed_share"]),
            sigma=math.nan if sigma is None else not_negative(f"{path}: sigma", sigma),
            merged=whole(f"{path}: merged", data["merged"], least=0),
        )

    def plot(self) -> "Figure":
        """Draw the arms' ranks in each state, the largest state on top, and the states' sizes."""
        from lobandits.learning.model_plot import plot_model

        return plot_model(self)

    def __repr__(self) -> str:
        kind = "total" if self.orders.is_total else "partial"
        return (
            f"OrderModel(n_states={self.orders.n_states}, n_arms={self.orders.n_arms}, "
            f"n_users={self.n_users}, {kind}, merged={self.merged}, "
            f"imputed_share={self.imputed_share:.3g}, sigma={self.sigma:.3g})"
        )


def model_of(table: RewardTable, orders: LatentOrders, labels: IntArray, merged: int) -> OrderModel:
    """Return the model of users in a table whose orders and labels are known."""
    filled, share = impute(table.means)
    means = averages(filled, labels, orders.n_states)
    return OrderModel(orders, table.users, labels, means, share, table.noise(), merged)


def _are_paths(rewards: Any) -> bool:
    return len(rewards) > 0 and all(isinstance(path, str | os.PathLike) for path in rewards)


def _users(value: Any, name: str) -> NDArray[Any]:
    kinds = {type(user) for user in value} if isinstance(value, list) else {list}
    if not kinds <= {str, int, float}:
        raise LobInputError(f"{name} must be a list of names or numbers")
    return np.array(value) if kinds == {int} else np.array(value, dtype=object)


def _labels(value: Any, n_users: int, n_states: int, name: str) -> IntArray:
    labels = finite_array(name, value, ndim=1)
    if len(labels) != n_users:
        raise LobInputError(f"{name} has {len(labels)} states for {n_users} users; one each")
    if ((labels < 0) | (labels >= n_states) | (labels % 1 != 0)).any():
        raise LobInputError(f"{name} must be whole numbers from 0 to {n_states - 1}")
    return labels.astype(np.int64)
