"""MeansPolicy: what policies share that know the means of the states, and the noise of rewards."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import (
    BoolArray,
    FloatArray,
    checked_spread,
    finite_array,
    read_only,
    user_indices,
)
from lobandits.beliefs.state_means import best_arms
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_names
from lobandits.policies.policy import Policy
from lobandits.statistics.state import S


@dataclass(frozen=True)
class MeansPolicy(Policy[S]):
    """A policy that knows the means of all arms in every state: shared, or one set per user.

    Parameters
    ----------
    state_means, sigma, arms
        As in `MTS`.
    """

    state_means: FloatArray
    sigma: float
    arms: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    n_arms: int = field(init=False)
    n_states: int = field(init=False)

    def __post_init__(self) -> None:
        means = finite_array("state_means", self.state_means)
        if means.ndim not in (2, 3) or not means.size:
            raise LobInputError(
                "state_means must have shape (n_states, n_arms) or (n_users, n_states, n_arms), "
                f"none of them zero, got {means.shape}"
            )
        self._set(
            state_means=means,
            sigma=checked_spread("sigma", self.sigma),
            n_states=means.shape[-2],
            n_arms=means.shape[-1],
            arms=arm_names(means.shape[-1], self.arms or None),
        )
        super().__post_init__()

    @property
    def n_users(self) -> int | None:
        """Number of users that have means of their own; None if all share the means."""
        return len(self.state_means) if self.state_means.ndim == 3 else None

    def take(self, users: ArrayLike) -> Self:
        """Return the policy for some of its users; itself if all users share it."""
        if self.n_users is None:
            return self
        return self._with(state_means=self.state_means[user_indices(users, self.n_users)])

    @cached_property
    def _tables(self) -> FloatArray:
        """The means with a leading axis of users: (1 or n_users, n_states, n_arms)."""
        return read_only(self.state_means.reshape(-1, self.n_states, self.n_arms))

    @cached_property
    def _best_of_all(self) -> tuple[BoolArray, FloatArray]:
        return best_arms(self._tables, self.all_arms)

    def _best(self, allowed: BoolArray) -> tuple[BoolArray, FloatArray]:
        """Return the best allowed arms of each state, (u, m, k), and their mean, (u, m)."""
        return self._best_of_all if allowed.all() else best_arms(self._tables, allowed)

    def _shared(self, weights: FloatArray, best: BoolArray) -> FloatArray:
        """Return the states' weights (n, m) by arm: each in equal parts to its best arms."""
        parts = weights / best.sum(axis=2)
        shared: FloatArray = (parts[:, :, None] * best).sum(axis=1)
        return shared

    def _best_names(self, allowed: BoolArray) -> np.ndarray[Any, np.dtype[np.str_]]:
        """Return the best allowed arms of each state of the first user, as text."""
        best, _ = best_arms(self._tables[:1], allowed[:1])
        names = np.array(self.arms)
        return np.array([" = ".join(names[row]) for row in best[0]])
