"""What a policy remembers of its users: arrays with a leading user axis."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits.basics.checks import FloatArray, IntArray, number_array, one_of, user_indices
from lobandits.errors import LobInputError
from lobandits.statistics.rewards import add_exactly

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    S = TypeVar("S", bound="State", default=Any)  # so that a plain `Policy` is of any state
else:
    from typing import TypeVar

    S = TypeVar("S", bound="State")

Role = Literal["sum", "memory"]


def array(role: Role, *axes: str, dtype: Any = np.int64, empty: int = 0) -> dict[str, Any]:
    """Return the metadata of a state's field: what becomes of its array, and how it starts.

    The role is ``"sum"``: `merge` adds it; or ``"memory"``: what does not add up, which a merge
    drops. ``axes`` follow the one of users; ``empty`` stands for nothing known.
    """
    return {"role": role, "axes": axes, "dtype": dtype, "empty": empty}


@dataclass(eq=False, repr=False)
class State:
    """Rewards seen by each user: N_a and the sum of rewards of every arm.

    A policy that cannot derive all it needs from these has a subclass with more fields, each
    described by `array`.

    Attributes
    ----------
    counts : int64 (n_users, n_arms)
        Rewards recorded, N_a.
    sums : float64 (n_users, n_arms)
        Their sum, correctly rounded.
    carries : float64 (n_users, n_arms)
        What rounding left out of ``sums``: the exact sum is ``sums + carries``.
    features : float64 (n_users, columns), or None
        What is known of users besides, as numbers; None where a policy does not look at it. Of two
        states that are merged, the first that knows something of a user says it.

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

    counts: IntArray = field(metadata=array("sum", "arms"))
    sums: FloatArray = field(metadata=array("sum", "arms", dtype=np.float64))
    carries: FloatArray = field(metadata=array("sum", "arms", dtype=np.float64))
    features: FloatArray | None = field(
        default=None, kw_only=True, metadata=array("memory", "columns", dtype=np.float64)
    )

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.counts)

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

    def merge(self, other: Self) -> Self:
        """Return the state of the same users after the rewards of both."""
        if type(other) is not type(self):
            raise LobInputError(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        merged = {}
        for f in fields(self):
            mine, theirs = getattr(self, f.name), getattr(other, f.name)
            if f.name == "features":
                continue
            if f.metadata["role"] != "sum":
                merged[f.name] = np.full_like(mine, f.metadata["empty"])
            elif mine.shape == theirs.shape:
                merged[f.name] = mine + theirs
            else:
                raise LobInputError(
                    f"cannot merge: {f.name} has shape {mine.shape} here and "
                    f"{theirs.shape} there; both must be of the same users and arms"
                )
        total, carry = add_exactly(self.sums, self.carries, other.carries)
        merged["sums"], merged["carries"] = add_exactly(total, carry, other.sums)
        merged["features"] = _known(self.features, other.features)
        return replace(self, **merged)

    def take(self, users: ArrayLike) -> Self:
        """Return a copy of the state of some users, in the order given."""
        rows = user_indices(users, self.n_users)
        return replace(self, **{name: value[rows] for name, value in self.arrays().items()})

    def copy(self) -> Self:
        """Return a copy that shares no array with this state."""
        return replace(self, **{name: value.copy() for name, value in self.arrays().items()})

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return copies of the arrays, for `Policy.restore`."""
        return {name: value.copy() for name, value in self.arrays().items()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, those that there are."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in arrays.items() if value is not None}

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_users={self.n_users}, n_arms={self.n_arms}, "
            f"plays={int(self.plays.sum())})"
        )


def _known(mine: FloatArray | None, theirs: FloatArray | None) -> FloatArray | None:
    """Return each user's features in the first of two states that knows any."""
    if mine is None or theirs is None:
        return mine if theirs is None else theirs
    return np.where(mine.any(axis=1, keepdims=True), mine, theirs)


def empty_state(kind: type[S], n_users: int, **sizes: int) -> S:
    """Return a state of users of whom nothing is known; ``sizes`` are those of the axes.

    There are no features unless ``columns`` says how many.
    """
    described: Any = kind
    arrays = {}
    for f in fields(described):
        if f.name == "features" and not sizes.get("columns"):
            continue
        shape = n_users, *map(sizes.__getitem__, f.metadata["axes"])
        arrays[f.name] = np.full(shape, f.metadata["empty"], f.metadata["dtype"])
    return kind(**arrays)


def check_state(state: Any, like: State, policy: Any) -> None:
    """Refuse a state of another kind, or with arrays of other shapes, than a policy needs."""
    if type(state) is not type(like):
        raise LobInputError(
            f"{policy.name} needs a {type(like).__name__}, as start() makes it, "
            f"got {type(state).__name__}"
        )
    n = state.n_users
    if state.n_arms != policy.n_arms or policy.n_users not in (None, n):
        raise LobInputError(
            f"the state has {n} users and {state.n_arms} arms, the policy "
            f"{policy.n_users or 'any number of'} users and {policy.n_arms} arms"
        )
    for name, array in like.arrays().items():
        value = getattr(state, name)
        if value is None:
            raise LobInputError(
                f"the state has no {name}, and this {policy.name} needs them: another policy made "
                "it"
            )
        shape, needed = value.shape, (n, *array.shape[1:])
        if shape != needed:
            raise LobInputError(
                f"the state's {name} has shape {shape}, but this {policy.name} needs "
                f"{needed}: another policy made the state"
            )


def stored_users(data: Mapping[str, ArrayLike]) -> int:
    """Return how many users a stored state has."""
    if not isinstance(data, Mapping) or "counts" not in data:
        raise LobInputError("a state needs the array 'counts'")
    return len(np.atleast_1d(number_array("counts", data["counts"])))


def fill(state: S, data: Mapping[str, ArrayLike]) -> S:
    """Copy stored arrays into an empty state, or name the one that does not fit."""
    arrays = state.arrays()
    for name in data:
        one_of("array of a state", name, list(arrays))
    for name, target in arrays.items():
        if name not in data:
            raise LobInputError(f"the state lacks the array {name!r}")
        _copy_into(name, target, data[name])
    if (state.counts < 0).any():
        raise LobInputError("counts must not be negative")
    if ((state.counts == 0) & (state.sums != 0)).any():
        raise LobInputError("sums must be 0 where counts is 0")
    return state


def _copy_into(name: str, target: NDArray[Any], given: ArrayLike) -> None:
    """Copy one stored array, or say why it does not fit."""
    floats = target.dtype.kind == "f"
    try:
        value = np.asarray(given, np.float64 if floats else None)
    except (TypeError, ValueError) as error:
        raise LobInputError(f"{name} must be an array of numbers: {error}") from None
    if value.shape != target.shape:
        raise LobInputError(f"{name} must have shape {target.shape}, got {value.shape}")
    if target.dtype == np.bool_ and value.dtype != np.bool_ and value.size:
        raise LobInputError(f"{name} must be True or False, got {value.dtype}")
    if target.dtype.kind == "i" and value.dtype.kind not in "iu" and value.size:
        raise LobInputError(f"{name} must be whole numbers, got {value.dtype}")
    target[...] = value
    if not np.isfinite(target).all():
        raise LobInputError(f"{name} must be finite numbers")
    if not floats and (target != value).any():
        raise LobInputError(f"{name} has numbers that are too large")
