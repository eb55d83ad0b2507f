"""Shares: how common the latent states are, their prior p(s)."""

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import FloatArray, finite_array, read_only
from lobandits.errors import LobInputError

ROUNDING = 1e-12  # how far from 1 the sum of shares may be that were made to sum to one


def checked_shares(shares: ArrayLike | None, n_states: int) -> FloatArray | None:
    """Return the states' shares, made to sum to one; None stands for equal ones."""
    if shares is None:
        return None
    given = finite_array("shares", shares)
    with np.errstate(over="ignore"):
        total = float(given.sum())
    if given.shape != (n_states,) or (given < 0).any() or not 0 < total < np.inf:
        raise LobInputError(
            f"shares must be {n_states} numbers, one per state, none negative and some positive, "
            f"got {shares}"
        )
    if abs(total - 1) <= ROUNDING:  # dividing again would change stored shares by a rounding
        return given
    checked: FloatArray = given / total
    return checked


def log_shares(shares: FloatArray | None, n_states: int) -> FloatArray:
    """Return log p(s) less that of the most common state: 0 for equal shares, -inf for none."""
    if shares is None:
        return read_only(np.zeros(n_states))
    with np.errstate(divide="ignore"):
        return read_only(np.log(shares / shares.max()))
