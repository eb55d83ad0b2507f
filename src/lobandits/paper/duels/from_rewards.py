"""Duels made of rewards, the paper's appendix "Absolute to relative feedback"."""

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import IntArray
from lobandits.errors import LobInputError


def duels_from_rewards(arms: ArrayLike, rewards: ArrayLike) -> tuple[IntArray, IntArray]:
    """Return independent duels (a_1, a_2), (a_3, a_4), ... of consecutive plays.

    ``arms`` and ``rewards`` are plays in time order, (..., n_plays). The larger reward wins, of
    equal ones the second. A last play alone is left out. Returns pairs (..., n_plays // 2, 2) and
    winners (..., n_plays // 2).

    Examples
    --------
    >>> pairs, winners = duels_from_rewards([0, 1, 2, 0], [3.0, 1.0, 2.0, 5.0])
    >>> pairs.tolist(), winners.tolist()
    ([[0, 1], [2, 0]], [0, 0])
    """
    plays, values = np.asarray(arms), np.asarray(rewards, np.float64)
    if plays.ndim == 0 or plays.shape != values.shape or not np.isfinite(values).all():
        raise LobInputError(
            f"rewards must be finite numbers, one for each arm, got arms of shape {plays.shape} "
            f"and rewards of shape {values.shape}"
        )
    shape = *plays.shape[:-1], plays.shape[-1] // 2, 2
    kept = slice(2 * shape[-2])
    pairs, earned = plays[..., kept].reshape(shape), values[..., kept].reshape(shape)
    winners = np.where(earned[..., 0] > earned[..., 1], pairs[..., 0], pairs[..., 1])
    return pairs, winners
