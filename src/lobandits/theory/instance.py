"""The instance that a bound is for: its means, its best arm, and the states it agrees with."""

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import BoolArray, FloatArray, finite_array
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders

LARGEST = 1e300
RELATIVE = 1e-9
"""Differences below this share of the spread of the means count as equality."""


def checked_means(means: ArrayLike, orders: LatentOrders | None = None) -> FloatArray:
    """Return the means as an array (k,) of finite numbers, one for each arm of the orders."""
    array = finite_array("means", means, ndim=1)
    if len(array) == 0:
        raise LobInputError("means is empty; give one mean per arm")
    if np.abs(array).max() > LARGEST:
        raise LobInputError(f"means must not exceed {LARGEST:g} in size")
    if orders is None:
        return array
    if not isinstance(orders, LatentOrders):
        raise LobInputError(
            f"orders must be LatentOrders, got {type(orders).__name__}; with orders per user, ask "
            "for one user at a time: orders[user]"
        )
    if len(array) != orders.n_arms:
        raise LobInputError(
            f"means has {len(array)} values, but the orders have {orders.n_arms} arms"
        )
    return array


def slack(means: FloatArray) -> float:
    """Return the difference below which two of the means count as equal."""
    return RELATIVE * float(np.ptp(means)) + rounding(means)


def rounding(means: FloatArray) -> float:
    """Return a few units in the last place of the largest mean."""
    return 4.0 * float(np.spacing(np.abs(means).max()))


def one_best_arm(means: FloatArray, arms: tuple[str, ...]) -> int:
    """Return the best arm, or refuse means with several: they have no closest rival."""
    best = int(means.argmax())
    tied = np.flatnonzero(means >= means[best] - rounding(means))
    if len(tied) > 1:
        names = " and ".join(repr(arms[a]) for a in tied)
        raise LobInputError(
            f"arms {names} tie for the best mean ({means[best]:g}); the lower bound is for an "
            "instance with one best arm (with a tie, log T regret may not be needed at all)"
        )
    return best


def broken_relations(means: FloatArray, orders: LatentOrders) -> BoolArray:
    """Return (m, k, k): which relations "a above b" of each state the means break."""
    lower = means[:, None] < means[None, :] - slack(means)
    broken: BoolArray = orders.precedes & lower
    return broken


def require_state(means: FloatArray, orders: LatentOrders) -> None:
    """Refuse means that agree with no state's order, and name the state that comes closest.

    Equal means agree with either order: the cones are taken closed.
    """
    broken = broken_relations(means, orders)
    counts = broken.sum(axis=(1, 2))
    if counts.min() == 0:
        return
    state = int(counts.argmin())
    above, below = np.argwhere(broken[state])[0]
    raise LobInputError(
        f"means agree with no state's order, so the bound does not apply to them; the closest is "
        f"state {state}, of which they break {counts[state]} relation(s), such as "
        f"{orders.arms[above]!r} ({means[above]:g}) above "
        f"{orders.arms[below]!r} ({means[below]:g})"
    )
