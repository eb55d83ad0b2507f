"""How rarely two orders are similar."""

import math
from fractions import Fraction

from lobandits._checks import whole
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
