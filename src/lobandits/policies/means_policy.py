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
from lobandits.basics.kernel import lean
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_names
from lobandits.policies.policy import Policy
from lobandits.policies.state import S


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
    def _tops(self) -> FloatArray:
        """The best mean of each state, (1 or n_users, n_states)."""
        return read_only(self._tables.max(axis=2))

    def _best_names(self, allowed: BoolArray) -> np.ndarray[Any, np.dtype[np.str_]]:
        """Return the best allowed arms of each state of the first user, as text."""
        means = np.where(allowed[0], self._tables[0], -np.inf)
        best = means == means.max(axis=1, keepdims=True)
        names = np.array(self.arms)
        return np.array([" = ".join(names[row]) for row in best])


@lean
def best_means(means: FloatArray, row: int, allowed: BoolArray, tops: FloatArray) -> None:
    """Write the best mean of each state among the allowed arms. O(m k)."""
    for s in range(means.shape[1]):
        tops[s] = -np.inf
        for a in range(means.shape[2]):
            if allowed[a]:
                tops[s] = max(tops[s], means[row, s, a])


@lean
def allowed_means(
    means: FloatArray, row: int, state: int, allowed: BoolArray, out: FloatArray
) -> float:
    """Write the means of a state's arms, -inf where not allowed; return the best. O(k)."""
    top = -np.inf
    for a in range(out.shape[0]):
        out[a] = means[row, state, a] if allowed[a] else -np.inf
        top = max(top, out[a])
    return top
