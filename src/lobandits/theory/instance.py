"""The instance mu of a bound: one mean per arm, in some state's cone."""

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import FloatArray, finite_array
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders

LARGEST = 1e300
RELATIVE = 1e-9  # differences below this share of the spread of the means count as equality


def checked_means(means: ArrayLike, orders: LatentOrders | None) -> FloatArray:
    """Return the means (k,), one for each arm of the orders."""
    array = finite_array("means", means, ndim=1)
    if len(array) == 0:
        raise LobInputError("means is empty; give one mean per arm")
    if np.abs(array).max() > LARGEST:
        raise LobInputError(f"means must not exceed {LARGEST:g} in size")
    if not isinstance(orders, LatentOrders | None):
        raise LobInputError(
            f"orders must be LatentOrders, got {type(orders).__name__}; with orders per user, ask "
            "for one user at a time: orders[user]"
        )
    if orders is not None and len(array) != orders.n_arms:
        raise LobInputError(
            f"means has {len(array)} values, but the orders have {orders.n_arms} arms"
        )
    return array


def require_state(means: FloatArray, orders: LatentOrders) -> None:
    """Refuse means in no state's closed cone, and name the state that comes closest."""
    broken = orders.precedes & (means[:, None] < means[None, :] - slack(means))
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


def slack(means: FloatArray) -> float:
    """Return the difference below which means count as equal."""
    return RELATIVE * float(np.ptp(means)) + rounding(means)


def rounding(means: FloatArray) -> float:
    """Return a few units in the last place of the largest mean."""
    return 4.0 * float(np.spacing(np.abs(means).max()))
