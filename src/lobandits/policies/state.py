"""What a policy remembers of its users: arrays with a leading user axis."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits._checks import FloatArray, IntArray, one_of
from lobandits.errors import LobInputError
from lobandits.policies.rewards import add_sums, user_indices

Role = Literal["sum", "memory", "cache"]
S = TypeVar("S", bound="Statistics")

SUM: dict[str, Any] = {"role": "sum", "empty": 0}
"""Metadata of an additive array; see `Statistics`."""


@dataclass(eq=False, repr=False)
class Statistics:
    """Arrays with a leading user axis.

    Every field is an array whose metadata say what becomes of it. ``"role"`` is one of
    ``"sum"``: additive, so `merge` adds it; ``"memory"``: not additive and not derivable, so it is
    stored, and a merge forgets it; ``"cache"``: derivable, so it is never stored.
    ``"empty"`` is the value that stands for nothing known.
    """

    def _arrays(self, *roles: Role) -> dict[str, NDArray[Any]]:
        """Return the arrays by name; with ``roles``, only those that have one of them."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if not roles or f.metadata["role"] in roles
        }

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(getattr(self, fields(self)[0].name))

    def merge(self: S, other: S) -> S:
        """Return the state of the same users after the rewards of both.

        Sums are added; memories and caches start again from their empty values.
        """
        if type(other) is not type(self):
            raise LobInputError(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        theirs = other._arrays()
        for name, mine in self._arrays("sum").items():
            if mine.shape != theirs[name].shape:
                raise LobInputError(
                    f"cannot merge: {name} has shape {mine.shape} here and "
                    f"{theirs[name].shape} there; both must be of the same users and arms"
                )
        empty = {f.name: f.metadata["empty"] for f in fields(self)}
        forgotten = self._arrays("memory", "cache")
        return replace(
            self,
            **{name: mine + theirs[name] for name, mine in self._arrays("sum").items()},
            **{name: np.full_like(mine, empty[name]) for name, mine in forgotten.items()},
        )

    def take(self: S, users: ArrayLike) -> S:
        """Return a copy of the state of some users, in the order given."""
        rows = user_indices(users, self.n_users)
        return replace(self, **{name: value[rows] for name, value in self._arrays().items()})

    def copy(self: S) -> S:
        """Return a copy that shares no array with this state."""
        return replace(self, **{name: value.copy() for name, value in self._arrays().items()})

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return copies of the arrays that must be stored; `Policy.restore` reads them."""
        return {name: value.copy() for name, value in self._arrays("sum", "memory").items()}


@dataclass(eq=False, repr=False)
class State(Statistics):
    """Rewards seen by each user: N_a and the sum of rewards of every arm.

    Attributes
    ----------
    counts : int64 (n_users, n_arms)
        Rewards recorded, N_a.
    sums : float64 (n_users, n_arms)
        Their sum, correctly rounded.
    carries : float64 (n_users, n_arms)
        What rounding left out of ``sums``: the exact sum is ``sums + carries``.

    Examples
    --------
    >>> from lobandits.policies import UCB
    >>> policy = UCB(n_arms=2, sigma=1.0)
    >>> here, there = policy.start(), policy.start()
    >>> policy.record(here, arms=[1], rewards=[2.0])
    >>> policy.record(there, arms=[1], rewards=[4.0])
    >>> here.merge(there).means
    array([[nan,  3.]])
    """

    counts: IntArray = field(metadata=SUM)
    sums: FloatArray = field(metadata=SUM)
    carries: FloatArray = field(metadata=SUM)

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return int(self.counts.shape[1])

    @property
    def plays(self) -> IntArray:
        """Rewards recorded for each user, (n_users,)."""
        plays: IntArray = self.counts.sum(axis=1)
        return plays

    @property
    def means(self) -> FloatArray:
        """Mean reward of every arm, (n_users, n_arms); nan where never played."""
        means = np.full(self.sums.shape, np.nan)
        np.divide(self.sums, self.counts, out=means, where=self.counts > 0)
        return means

    def merge(self: S, other: S) -> S:
        """Return the state of the same users after the rewards of both."""
        merged = super().merge(other)
        if isinstance(merged, State) and isinstance(self, State) and isinstance(other, State):
            add_sums(
                self.sums, self.carries, other.sums, other.carries, merged.sums, merged.carries
            )
        return merged

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_users={self.n_users}, n_arms={self.n_arms}, "
            f"plays={int(self.counts.sum())})"
        )


def stored_users(data: Mapping[str, ArrayLike], name: str) -> int:
    """Return how many users the stored array ``name`` is of."""
    if not isinstance(data, Mapping) or name not in data:
        raise LobInputError(f"a state needs the array {name!r}")
    try:
        return len(np.atleast_1d(np.asarray(data[name])))
    except ValueError as error:
        raise LobInputError(f"{name} must be an array of numbers: {error}") from None


def no_rewards(n_users: int, n_arms: int) -> dict[str, Any]:
    """Return the arrays of a `State` without rewards, by name."""
    shape = (n_users, n_arms)
    return {
        "counts": np.zeros(shape, np.int64),
        "sums": np.zeros(shape),
        "carries": np.zeros(shape),
    }


def fill(state: Statistics, data: Mapping[str, ArrayLike]) -> None:
    """Copy stored arrays into an empty state, or name the one that does not fit."""
    stored = state._arrays("sum", "memory")
    for name in data:
        one_of("array of a state", name, list(stored))
    for name, target in stored.items():
        if name not in data:
            raise LobInputError(f"the state lacks the array {name!r}")
        try:
            value = np.asarray(data[name], np.float64 if target.dtype.kind == "f" else None)
        except (TypeError, ValueError) as error:
            raise LobInputError(f"{name} must be an array of numbers: {error}") from None
        if value.shape != target.shape:
            raise LobInputError(f"{name} must have shape {target.shape}, got {value.shape}")
        if target.dtype.kind != "f" and value.dtype.kind not in "iu" and value.size:
            raise LobInputError(f"{name} must be whole numbers, got {value.dtype}")
        target[...] = value
        if not np.isfinite(target).all():
            raise LobInputError(f"{name} must be finite numbers")
        if target.dtype.kind != "f" and (target != value).any():
            raise LobInputError(f"{name} has numbers that are too large")
    for name, total in state._arrays("sum").items():
        if total.dtype.kind != "f" and (total < 0).any():
            raise LobInputError(f"{name} must not be negative")
