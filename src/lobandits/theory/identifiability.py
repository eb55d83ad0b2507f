"""How rarely two orders are similar, and how many rewards give every user's order."""

import math
from fractions import Fraction

from lobandits.basics.checks import one_of, positive, real, whole
from lobandits.errors import LobInputError


def similar_order_probability(k: int) -> Fraction:
    """P(two distinct random total orders differ in exactly two positions) = C(k, 2) / (k! - 1).

    The paper's observation: the true state stands out more and more as k grows.

    Parameters
    ----------
    k
        Number of arms, at least 2.

    Examples
    --------
    >>> similar_order_probability(10)
    Fraction(45, 3628799)
    """
    n_arms = whole("k", k)
    if n_arms == 1:
        raise LobInputError("k must be at least 2: one arm has a single order, never two distinct")
    return Fraction(math.comb(n_arms, 2), math.factorial(n_arms) - 1)


CONSTANTS = {"corrected": 8.0, "printed": 2.0}
"""The factor of sigma^2 / gap^2: errors below half the gap, or (as printed) below the gap."""


def samples_for_exact_orders(
    sigma: float,
    gap: float,
    n_arms: int,
    n_users: int,
    delta: float,
    constant: str = "corrected",
) -> int:
    """n_min = ceil(8 sigma^2 / gap^2 log(2 k N / delta)) rewards of each arm from each user.

    With so many, mean rewards give all N users' orders with probability at least 1 - delta: an
    estimate misses its mean by gap / 2 with probability at most 2 exp(-n gap^2 / (8 sigma^2)),
    and the union bound counts k N means.

    Parameters
    ----------
    sigma
        As in `lobucb_regret_bound`.
    gap
        Least difference between two means of one user.
    n_arms, n_users
        k and N.
    delta
        Probability of an error somewhere, between 0 and 1.
    constant
        ``"corrected"``: 8. ``"printed"``: 2, as in the paper's appendix, where errors reach the
        whole gap; two such errors can swap two arms.

    Examples
    --------
    >>> samples_for_exact_orders(sigma=1.0, gap=0.5, n_arms=19, n_users=1000, delta=0.05)
    434
    """
    factor = CONSTANTS[one_of("constant", constant, list(CONSTANTS))]
    ratio = positive("sigma", sigma) / positive("gap", gap)
    means = whole("n_arms", n_arms) * whole("n_users", n_users)
    error = real("delta", delta)
    if not 0 < error < 1:
        raise LobInputError(f"delta must lie strictly between 0 and 1, got {delta!r}")
    samples = factor * ratio * ratio * (math.log(2 * means) - math.log(error))
    if not math.isfinite(samples):
        raise LobInputError(f"sigma / gap is {ratio:.3g}: no finite number of samples is enough")
    return max(1, math.ceil(samples))
