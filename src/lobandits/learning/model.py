"""Model: what logs tell of users: a prior, its states' members, and how it was learned."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import (
    FloatArray,
    IntArray,
    finite_array,
    number_array,
    one_of,
    shaped_array,
)
from lobandits.basics.files import HEADER, read_versioned, write_versioned
from lobandits.basics.tables import Tabular
from lobandits.beliefs import Likelihood, Prior
from lobandits.beliefs.prior import EPSILON
from lobandits.errors import LobInputError
from lobandits.learning.curve import EvidenceCurve
from lobandits.learning.logs import Logs, read_logs
from lobandits.orders import LatentOrders
from lobandits.orders.arms import Arm, arm_index
from lobandits.orders.storage import MODEL_FORMAT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rewards = Logs | NDArray[Any] | Sequence[Sequence[float]]
"""Logs, or means (n_users, n_arms) with nan where an arm was not tried."""

VERSION = 2
FIELDS = ("prior", "sizes", "sigma_from", "curve", "options")
MEMBERS = ("users", "labels")  # only where they were asked for
OPTIONS = (
    "user", "arm", "reward", "context", "time", "since", "half_life", "min_user_rewards",
    "min_arm_rewards", "skip_empty", "likelihood", "n_states", "seed", "features", "users",
    "arm_features",
)  # fmt: skip
SIGMA_FROM = ("given", "cells", "model", "none")
NOUN = "a model written by Model.save (LatentOrders.load reads orders alone)"


@dataclass(frozen=True, eq=False)
class Model(Tabular):
    """The prior of users that logs taught, and what else they say of its states.

    Parameters
    ----------
    prior
        How common the states are, what their users like, and how they differ.
    users : (n,)
        The users learned from, as in the logs; empty in a model from a file without users.
    labels : (n,)
        The likeliest state of each user.
    sizes : (m,)
        The number of users of each state.
    curve
        How the number of states was chosen; None if it was given.
    sigma_from
        Where the noise of Gaussian rewards comes from: "given", "cells" (repeats within a user and
        arm) or "model" (a parameter of it); "none" for other rewards.
    options
        What `learn` was told: columns, filters, likelihood, half-life, number of states, seed.

    Examples
    --------
    >>> import lobandits as lob
    >>> ratings = lob.make_ratings(n_users=200, n_arms=4, n_states=2, seed=1)
    >>> model = lob.learn(ratings.table, "userId", "genre", "rating", n_states=2)
    >>> model.n_users, model.options["arm"], model.likelihood.name
    (200, 'genre', 'gaussian')
    >>> model.predict(ratings.table, "userId", "genre", "rating").shape
    (200,)
    """

    prior: Prior
    users: NDArray[Any]
    labels: IntArray
    sizes: IntArray
    curve: EvidenceCurve | None = None
    sigma_from: str = "given"
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_users(self) -> int:
        """The number of users learned from, n."""
        return int(self.sizes.sum())

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the k arms."""
        return self.prior.arms

    @property
    def orders(self) -> LatentOrders:
        """The states' orders, made when first asked for: they are quadratic in arms."""
        return self.prior.orders

    @property
    def likelihood(self) -> Likelihood:
        """How rewards come from tastes."""
        return self.prior.likelihood

    @property
    def sigma(self) -> float:
        """Standard deviation of a reward, at what users earn on average."""
        return self.prior.sigma

    def predict(
        self, rewards: Rewards, user: str = "user", arm: str = "arm", reward: str = "reward"
    ) -> IntArray:
        """Return the likeliest state of each user under the prior.

        Parameters
        ----------
        rewards
            Logs, whose users are answered in sorted order; a `RewardTable`, whose counts may be
            weights; or means (n, k), nan where an arm was not tried. A mean counts as one reward.
        user, arm, reward
            The logs' columns. Arms are matched by name.
        """
        chances, _, _ = self.prior.posterior(*self._cells(rewards, user, arm, reward))
        likeliest: IntArray = chances.argmax(axis=1)
        return likeliest

    def _cells(
        self, rewards: Rewards, user: str, arm: str, reward: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the number, or weight, and the sum of users' rewards from the model's arms."""
        if isinstance(rewards, np.ndarray | list | tuple) and not _are_paths(rewards):
            given = self._checked(number_array("means", rewards))
            return (~np.isnan(given)).astype(np.float64), np.nan_to_num(given)
        table = read_logs(rewards, user, arm, reward)
        try:
            columns = [arm_index(self.arms, name) for name in table.arms]
        except LobInputError as error:
            raise LobInputError(f"column {arm!r}: {error}. Leave out the rows of others") from None
        counts, sums = np.zeros((2, table.n_users, len(self.arms)))
        counts[:, columns], sums[:, columns] = table.counts, table.sums
        return counts, sums

    def _checked(self, means: FloatArray) -> FloatArray:
        if means.ndim != 2 or means.shape[1] != len(self.arms):
            raise LobInputError(
                f"means must have shape (n_users, {len(self.arms)}), got {means.shape}"
            )
        for u, a in np.argwhere(np.isinf(means)).tolist()[:1]:
            raise LobInputError(f"means[{u}, {a}] is {means[u, a]}; leave out with nan")
        return means

    def with_arm(
        self,
        name: str,
        like: Arm | None = None,
        features: Mapping[str, Any] | None = None,
        epsilon: float = EPSILON,
    ) -> "Model":
        """Return the model with one more arm, the last, of which no log knows.

        In every state it stands where ``like`` stands, or where its ``features`` say; without both
        its chance to beat the best arm of the average user is ``epsilon``. See `Prior.with_arm`.
        """
        return replace(self, prior=self.prior.with_arm(name, like, features, epsilon))

    def save(self, path: str | os.PathLike[str], users: bool = False) -> None:
        """Write the model to a JSON file, from which `Prior.load` reads the prior.

        `LatentOrders.load` reads the orders of the states' means. Nothing in the file tells of
        single users, unless ``users`` asks for their names and states.
        """
        data = {
            "prior": self.prior.to_dict(),
            "sizes": self.sizes.tolist(),
            "sigma_from": self.sigma_from,
            "curve": None if self.curve is None else self.curve.to_dict(),
            "options": dict(self.options),
        }
        write_versioned(path, MODEL_FORMAT, VERSION, data | (self._members() if users else {}))

    def _members(self) -> dict[str, Any]:
        known = (str, int, float)  # to JSON; dates and the like become text
        users = [u if type(u) in known else str(u) for u in self.users.tolist()]
        return {"users": users, "labels": self.labels.tolist()}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """Return the model saved in a JSON file; ``users`` and ``labels`` are empty without."""
        data = read_versioned(path, MODEL_FORMAT, VERSION, FIELDS, NOUN)
        _refuse_unknown(data, (*HEADER, *FIELDS, *MEMBERS), f"{path}: unknown field")
        prior = Prior.from_dict(data["prior"], f"{path}: prior")
        users, curve = _users(data.get("users", []), f"{path}: users"), data["curve"]
        m = prior.n_states
        return cls(
            prior=prior,
            users=users,
            labels=_labels(data.get("labels", []), len(users), m, f"{path}: labels"),
            sizes=_sizes(data["sizes"], m, f"{path}: sizes"),
            curve=None if curve is None else EvidenceCurve.from_dict(curve, f"{path}: curve"),
            sigma_from=one_of(f"{path}: sigma_from", data["sigma_from"], SIGMA_FROM),
            options=_options(data["options"], f"{path}: options"),
        )

    def plot(self) -> "Figure":
        """Draw the arms' ranks in each state, the largest state on top, and the states' sizes."""
        from lobandits.learning.model_plot import plot_model

        return plot_model(self)

    def _rows(self) -> list[dict[str, Any]]:
        """Return a row per state: its users, and the mean reward of each arm."""
        return [
            {"state": s, "users": n, **dict(zip(self.arms, means, strict=True))}
            for s, (n, means) in enumerate(
                zip(self.sizes.tolist(), self.prior.state_means.tolist(), strict=True)
            )
        ]

    def _caption(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return (
            f"Model(n_states={self.prior.n_states}, n_arms={len(self.arms)}, "
            f"n_users={self.n_users}, likelihood={self.likelihood.name!r}, sigma={self.sigma:.3g})"
        )


def _are_paths(rewards: Any) -> bool:
    return len(rewards) > 0 and all(isinstance(path, str | os.PathLike) for path in rewards)


def _refuse_unknown(data: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for name in data:
        if name not in known:
            raise LobInputError(
                f"{what} {name!r}; known: {', '.join(known)}. A newer lobandits may have written "
                "it; upgrade lobandits"
            )


def _options(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LobInputError(f"{name} must be an object, got {value!r:.80}")
    _refuse_unknown(value, OPTIONS, f"{name}: unknown option")
    return value


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
