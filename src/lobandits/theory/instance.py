"""The instance whose regret is bounded: checked, and in the units of the Graves-Lai program."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, finite_array, positive
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


class ScaledInstance(NamedTuple):
    """The instance in units in which mu* = 0 and the widest gap is 1.

    The program's variables are y_a = c_a / (2 (sigma / spread)^2), for ``others``, all arms but the
    best one; their scaled ``gaps`` are its prices.
    """

    means: FloatArray
    arms: tuple[str, ...]
    best: int
    others: BoolArray
    scaled: FloatArray
    gaps: FloatArray
    spread: float
    sigma: float

    def rows(self, instances: FloatArray) -> FloatArray:
        """Return the coefficients of y in the divergence from scaled instances (n, k)."""
        shift: FloatArray = (instances - self.scaled)[:, self.others]
        return shift * shift

    def widen(self, y: FloatArray) -> FloatArray:
        """Return y with 0 for the best arm: (k,)."""
        wide = np.zeros(len(self.means))
        wide[self.others] = y
        return wide

    @property
    def safe(self) -> FloatArray:
        """The y that is enough without any structure."""
        plan: FloatArray = 1.0 / self.gaps**2
        return plan


def scale_instance(mu: FloatArray, arms: tuple[str, ...], sigma: float) -> ScaledInstance:
    """Return the instance with its best arm at 0, or say why it has no lower bound."""
    std = positive("sigma", sigma)
    best = int(mu.argmax())
    tied = np.flatnonzero(mu >= mu[best] - rounding(mu))
    if len(tied) > 1:
        names = " and ".join(repr(arms[a]) for a in tied)
        raise LobInputError(
            f"arms {names} tie for the best mean ({mu[best]:g}); the lower bound is for an "
            "instance with one best arm (with a tie, log T regret may not be needed at all)"
        )
    others = np.arange(len(mu)) != best
    spread = float(mu[best] - mu.min()) if others.any() else 1.0
    scaled = (mu - mu[best]) / spread
    gaps = -scaled[others]
    finest = spread * float(gaps.min(initial=1.0))
    if not 0.0 < std / finest * (std / finest) < math.inf:
        raise LobInputError(
            f"sigma ({std:g}) and the smallest gap ({finest:g}) are too far apart in scale"
        )
    return ScaledInstance(mu, arms, best, others, scaled, gaps, spread, std)
