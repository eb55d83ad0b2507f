"""OrderModel: the states learned from users' rewards: their orders, prior and members."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    one_of,
    shaped_array,
    whole,
)
from lobandits._files import read_versioned, write_versioned
from lobandits._tables import Tabular
from lobandits.errors import LobInputError
from lobandits.learning.centroids import averages
from lobandits.learning.curve import EvidenceCurve
from lobandits.learning.kendall import distances, nearest, pair_signs, relation_signs
from lobandits.learning.logs import Logs, read_logs
from lobandits.learning.table import RewardTable, impute
from lobandits.orders import LatentOrders
from lobandits.orders.arms import Arm, arm_index
from lobandits.orders.contexts import context_numbers
from lobandits.orders.storage import MODEL_FORMAT
from lobandits.priors import Prior

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rewards = Logs | NDArray[Any] | Sequence[Sequence[float]]
"""Logs, or means (n_users, n_arms) with nan where an arm was not tried."""

VERSION = 1
FIELDS = (
    "orders", "state_means", "sizes", "sigma", "sigma_from", "imputed_share", "merged", "prior",
    "curve",
)  # fmt: skip
SIGMA_FROM = ("given", "cells", "model", "unknown")
NOUN = "a model written by OrderModel.save (LatentOrders.load reads orders alone)"


@dataclass(frozen=True, eq=False)
class OrderModel(Tabular):
    """The orders of m latent states, and what else the logs say about the states.

    Parameters
    ----------
    orders
        The states' orders, with the arms' names from the logs. States of a prior may differ in
        numbers only, and then have the same.
    users : (n,)
        The users learned from, as in the logs; empty in a model from a file without users.
    labels : (n,)
        The state of each user.
    sizes : (m,)
        The number of users of each state.
    state_means : (m, k)
        The prior's means, or the average of the members' means.
    imputed_share
        Share of the users' means that had to be imputed: of arms never tried. 0 for a prior,
        which needs none.
    sigma
        Standard deviation of the rewards around each user's mean; nan if nothing tells it.
    sigma_from
        "cells": from repeats within a user and arm; "model": a parameter of the prior;
        "unknown".
    merged
        How many states were merged into one of the same order, or lost all users.
    prior
        How common the states are, and how their users differ; None if only orders were learned.
    curve
        How the number of states was chosen; None if it was given.

    Examples
    --------
    >>> import lobandits as lob, polars as pl
    >>> logs = {"user": [1, 1, 2, 2, 3, 3], "arm": ["x", "y"] * 3, "reward": [4, 1, 3, 2, 2, 5]}
    >>> model = lob.learn_orders(pl.DataFrame(logs), n_states=2, method="kendall")
    >>> model.labels, model.sizes
    (array([0, 0, 1]), array([2, 1]))
    >>> model.predict([[3.0, 3.5]])
    array([1])
    """

    orders: LatentOrders
    users: NDArray[Any]
    labels: IntArray
    sizes: IntArray
    state_means: FloatArray
    imputed_share: float
    sigma: float
    sigma_from: str
    merged: int
    prior: Prior | None = None
    curve: EvidenceCurve | None = None

    @property
    def n_users(self) -> int:
        """The number of users learned from, n."""
        return int(self.sizes.sum())

    def predict(
        self, rewards: Rewards, user: str = "user", arm: str = "arm", reward: str = "reward"
    ) -> IntArray:
        """Return the state of each user: the likeliest under the prior, or the nearest order.

        Without a prior, the first of equals, and the state with the most users for a user who
        tried fewer than two arms.

        Parameters
        ----------
        rewards
            Logs, whose users are answered in sorted order; or means (n, k), nan where an arm
            was not tried. A mean counts as one reward.
        user, arm, reward
            The logs' columns. Arms are matched by name.
        """
        counts, sums, means = self._cells(rewards, user, arm, reward)
        if self.prior is not None:
            likeliest: IntArray = self.prior.posterior(counts, sums)[0].argmax(axis=1)
            return likeliest
        users = pair_signs(means, context_numbers(self.orders.arms))
        labels, _ = nearest(users, relation_signs(self.orders.precedes, users.contexts))
        labels[users.tried == 0] = self.sizes.argmax()
        return labels

    def distances(
        self, rewards: Rewards, user: str = "user", arm: str = "arm", reward: str = "reward"
    ) -> FloatArray:
        """Return Kendall's tau distance of each user to each state's order, (n, m).

        Pairs that are tied, or that the order leaves open, count half. Arguments as for `predict`.
        """
        *_, means = self._cells(rewards, user, arm, reward)
        users = pair_signs(means, context_numbers(self.orders.arms))
        return distances(users, relation_signs(self.orders.precedes, users.contexts))

    def _cells(
        self, rewards: Rewards, user: str, arm: str, reward: str
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the number, sum and mean of each user's rewards from each arm of the model."""
        if isinstance(rewards, np.ndarray | list | tuple) and not _are_paths(rewards):
            given = self._checked(number_array("means", rewards))
            return (~np.isnan(given)).astype(np.int64), np.nan_to_num(given), given
        table = read_logs(rewards, user, arm, reward)
        try:
            columns = [arm_index(self.orders.arms, name) for name in table.arms]
        except LobInputError as error:
            raise LobInputError(f"column {arm!r}: {error}. Leave out the rows of others") from None
        shape = table.n_users, self.orders.n_arms
        counts, sums = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        means = np.full(shape, np.nan)
        counts[:, columns], sums[:, columns] = table.counts, table.sums
        means[:, columns] = table.means
        return counts, sums, means

    def _checked(self, means: FloatArray) -> FloatArray:
        if means.ndim != 2 or means.shape[1] != self.orders.n_arms:
            raise LobInputError(
                f"means must have shape (n_users, {self.orders.n_arms}), got {means.shape}"
            )
        for u, a in np.argwhere(np.isinf(means)).tolist()[:1]:
            raise LobInputError(f"means[{u}, {a}] is {means[u, a]}; leave out with nan")
        return means

    def with_arm(self, name: str, like: Arm | None = None) -> "OrderModel":
        """Return the model with one more arm, the last, of which no log knows.

        In every state it stands where ``like`` stands; without ``like`` nothing is known of it.
        See `Prior.with_arm` for what becomes of the prior.
        """
        orders = self.orders.with_arm(name, like)
        means = self.state_means
        at = None if like is None else arm_index(self.orders.arms, like)
        new = means.mean(axis=1) if at is None else means[:, at]
        prior = None if self.prior is None else self.prior.with_arm(name, like)
        return replace(self, orders=orders, state_means=np.column_stack([means, new]), prior=prior)

    def save(self, path: str | os.PathLike[str], users: bool = False) -> None:
        """Write the model to a JSON file, from which `LatentOrders.load` reads the orders.

        `Prior.load` reads the prior. Nothing in the file tells of single users, unless ``users``
        asks for their names and states.
        """
        data = {
            "orders": self.orders.to_dict(),
            "state_means": self.state_means.tolist(),
            "sizes": self.sizes.tolist(),
            "sigma": None if math.isnan(self.sigma) else self.sigma,
            "sigma_from": self.sigma_from,
            "imputed_share": self.imputed_share,
            "merged": self.merged,
            "prior": None if self.prior is None else self.prior.to_dict(),
            "curve": None if self.curve is None else self.curve.to_dict(),
        }
        write_versioned(path, MODEL_FORMAT, VERSION, data | (self._members() if users else {}))

    def _members(self) -> dict[str, Any]:
        known = (str, int, float)  # to JSON; dates and the like become text
        users = [u if type(u) in known else str(u) for u in self.users.tolist()]
        return {"users": users, "labels": self.labels.tolist()}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "OrderModel":
        """Return the model saved in a JSON file; ``users`` and ``labels`` are empty without."""
        data = read_versioned(path, MODEL_FORMAT, VERSION, FIELDS, NOUN)
        orders = LatentOrders.from_dict(data["orders"], source=f"{path}: orders")
        m = orders.n_states
        users = _users(data.get("users", []), f"{path}: users")
        sigma, prior, curve = data["sigma"], data["prior"], data["curve"]
        return cls(
            orders=orders,
            users=users,
            labels=_labels(data.get("labels", []), len(users), m, f"{path}: labels"),
            sizes=_sizes(data["sizes"], m, f"{path}: sizes"),
            state_means=shaped_array(
                f"{path}: state_means", data["state_means"], (m, orders.n_arms)
            ),
            imputed_share=fraction(f"{path}: imputed_share", data["imputed_share"]),
            sigma=math.nan if sigma is None else not_negative(f"{path}: sigma", sigma),
            sigma_from=one_of(f"{path}: sigma_from", data["sigma_from"], SIGMA_FROM),
            merged=whole(f"{path}: merged", data["merged"], least=0),
            prior=None if prior is None else _prior(prior, orders, f"{path}: prior"),
            curve=None if curve is None else EvidenceCurve.from_dict(curve, f"{path}: curve"),
        )

    def plot(self) -> "Figure":
        """Draw the arms' ranks in each state, the largest state on top, and the states' sizes."""
        from lobandits.learning.model_plot import plot_model

        return plot_model(self)

    def _rows(self) -> list[dict[str, Any]]:
        """Return a row per state: its users, its order, and the mean of each arm."""
        arms, rows = self.orders.arms, []
        columns = zip(self.sizes.tolist(), self.orders, self.state_means.tolist(), strict=True)
        for s, (n, order, means) in enumerate(columns):
            by_arm = dict(zip(arms, means, strict=True))
            rows.append({"state": s, "users": n, "order": str(order), **by_arm})
        return rows

    def _caption(self) -> str:
        return repr(self)

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
    sigma = table.noise()
    return OrderModel(
        orders=orders,
        users=table.users,
        labels=labels,
        sizes=np.bincount(labels, minlength=orders.n_states),
        state_means=averages(filled, labels, orders.n_states),
        imputed_share=share,
        sigma=sigma,
        sigma_from="unknown" if math.isnan(sigma) else "cells",
        merged=merged,
    )


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


def _sizes(value: Any, n_states: int, name: str) -> IntArray:
    sizes = shaped_array(name, value, (n_states,))
    if ((sizes < 0) | (sizes % 1 != 0)).any():
        raise LobInputError(f"{name} must be numbers of users, got {sizes.tolist()}")
    return sizes.astype(np.int64)


def _prior(value: Any, orders: LatentOrders, name: str) -> Prior:
    prior = Prior.from_dict(value, source=name)
    if prior.arms != orders.arms or prior.n_states != orders.n_states:
        raise LobInputError(f"{name} has other arms or another number of states than the orders")
    return prior
