"""What lobUCB, and UCB on the top arms, guarantee."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import FloatArray, one_of, positive, read_only, whole
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.theory.instance import checked_means, require_state

BAD_ROUNDS = 26.88
"""2 sum_{t >= 2} (1 + log t / log b) t^(-2/b) at b = 5/4, rounded up."""


@dataclass(frozen=True, eq=False)
class UpperBound:
    """Expected regret of at most ``instance_bound``, and of at most ``worst_case``, after T rounds.

    Attributes
    ----------
    policy, horizon
        ``"lobucb"`` or ``"toparms"``, and T.
    q
        |A_0|, the number of arms on top of some state: the policy plays no others.
    per_arm, constant
        (k,) what each arm adds to the bound through log T / Delta_a, and what pays in both bounds
        for rounds in which confidence intervals fail.
    instance_bound
        The sum of ``per_arm``, plus ``constant``.
    worst_case
        The bound of order sqrt(q T), in which no small gap appears.
    trivial
        T times the largest gap in A_0.
    """

    policy: str
    horizon: int
    q: int
    per_arm: FloatArray
    constant: float
    instance_bound: float
    worst_case: float
    trivial: float

    @property
    def regret(self) -> float:
        """The least of the three bounds: all hold."""
        return min(self.instance_bound, self.worst_case, self.trivial)

    def __str__(self) -> str:
        return (
            f"{self.policy}, T = {self.horizon}, q = {self.q} arms: regret <= {self.regret:.4g} "
            f"(instance {self.instance_bound:.4g}, worst case {self.worst_case:.4g}, "
            f"trivial {self.trivial:.4g})"
        )


def lobucb_regret_bound(
    means: ArrayLike,
    orders: LatentOrders,
    sigma: float,
    horizon: int,
    constant: str = "printed",
) -> UpperBound:
    """R_T <= sum_{a in A_0} 16 sigma^2 log T / Delta_a + q (pi^2 / 3) Delta_max, q = |A_0|.

    Theorem 2, with the constants of its proof, for lobUCB with c = sigma. In the worst case

        R_T <= 8 sigma sqrt(q T log T) + q (pi^2 / 3) Delta_max.

    A_0 is counted from the orders: q <= min(k, m) holds for total orders only.

    Parameters
    ----------
    means
        The instance mu (k,); it must agree with some state's order.
    orders, horizon
        The states' orders, and T.
    sigma
        Standard deviation of the rewards (or their sub-Gaussian parameter).
    constant
        ``"printed"``: as above, Delta_max over all arms. ``"corrected"`` repairs two steps of the
        printed proof: q D min(2 log T, 26.88) + sum_{a in A_0} Delta_a in place of
        q (pi^2 / 3) Delta_max, with D the largest gap in A_0 (no other arm is ever played).

    Examples
    --------
    >>> orders = LatentOrders.from_rankings([[0, 1, 2], [1, 2, 0]])
    >>> print(lobucb_regret_bound([3.0, 2.0, 0.0], orders, sigma=1.0, horizon=1000))
    lobucb, T = 1000, q = 2 arms: regret <= 130.3 (instance 130.3, worst case 960.1, trivial 1000)
    """
    one_of("constant", constant, ("corrected", "printed"))
    gaps, std, rounds = _checked(means, orders, sigma, horizon)
    played = gaps[orders.tops]
    q, log_t = len(played), math.log(rounds)
    if constant == "printed":
        failures = q * math.pi**2 / 3 * gaps.max()
    else:
        failures = q * min(2 * log_t, BAD_ROUNDS) * played.max() + played.sum()
    leading = 16 * std * std * log_t
    worst = 8 * std * math.sqrt(q * rounds * log_t)
    return _bound("lobucb", rounds, orders, gaps, leading, float(failures), worst)


def toparms_regret_bound(
    means: ArrayLike, orders: LatentOrders, sigma: float, horizon: int
) -> UpperBound:
    """R_T <= sum_{a in A_0} (sigma^2 C(T) / Delta_a + 2 Delta_a), C(T) = (A^(1/3) + S^(1/3))^3.

    Here A = 2 (log T + sqrt(pi log T) + 1) and S = 1 / (2 log 2) + log(log T / log 2), so that
    C(T) / log T tends to 2, the best possible without structure on A_0. The appendix's
    Proposition on restricted arms, made explicit for UCB with radius sigma sqrt(2 log t / N_a).
    In the worst case 2 sigma sqrt(n T C(T)) + 2 sum Delta_a, with n arms of A_0 that are not best.

    Parameters
    ----------
    means, orders, sigma, horizon
        As in `lobucb_regret_bound`.

    Examples
    --------
    >>> orders = LatentOrders.from_rankings([[0, 1, 2], [1, 2, 0]])
    >>> print(toparms_regret_bound([3.0, 2.0, 0.0], orders, sigma=1.0, horizon=1000))
    toparms, T = 1000, q = 2 arms: regret <= 85.72 (instance 85.72, worst case 580.7, trivial 1000)
    """
    gaps, std, rounds = _checked(means, orders, sigma, horizon)
    played = gaps[orders.tops]
    log_t = math.log(rounds)
    upper = 2 * (log_t + math.sqrt(math.pi * log_t) + 1)
    lower = 1 / (2 * math.log(2)) + math.log(log_t / math.log(2)) if rounds > 1 else 0.0
    leading = std * std * (math.cbrt(upper) + math.cbrt(lower)) ** 3
    worst = 2 * math.sqrt(int(np.count_nonzero(played)) * rounds * leading)
    return _bound("toparms", rounds, orders, gaps, leading, float(2 * played.sum()), worst)


def _checked(
    means: ArrayLike, orders: LatentOrders, sigma: float, horizon: int
) -> tuple[FloatArray, float, int]:
    mu = checked_means(means, orders)
    require_state(mu, orders)
    rounds = whole("horizon", horizon)
    if rounds > 1e300:
        raise LobInputError("horizon must not exceed 1e300")
    return mu.max() - mu, positive("sigma", sigma), rounds


def _bound(
    policy: str,
    horizon: int,
    orders: LatentOrders,
    gaps: FloatArray,
    leading: float,
    constant: float,
    worst: float,
) -> UpperBound:
    """Return the bounds in which arm a of A_0 adds ``leading`` / Delta_a."""
    paid = orders.tops & (gaps > 0)
    if paid.any() and not math.isfinite(leading / float(gaps[paid].min())):
        raise LobInputError("sigma and the smallest gap are too far apart in scale")
    per_arm = np.divide(leading, gaps, out=np.zeros_like(gaps), where=paid)
    return UpperBound(
        policy=policy,
        horizon=horizon,
        q=int(orders.tops.sum()),
        per_arm=read_only(per_arm),
        constant=constant,
        instance_bound=float(per_arm.sum()) + constant,
        worst_case=worst + constant,
        trivial=horizon * float(gaps[orders.tops].max()),
    )
