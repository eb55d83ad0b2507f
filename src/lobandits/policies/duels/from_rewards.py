"""Duels from rewards: the paper's "Absolute to relative feedback"."""

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import IntArray, finite_array
from lobandits.errors import LobInputError


def duels_from_rewards(
    arms: ArrayLike, rewards: ArrayLike, draws: bool = False
) -> tuple[IntArray, IntArray]:
    """Return independent duels (a_1, a_2), (a_3, a_4), ... of consecutive plays.

    The first arm wins if its reward is larger, else the second. A last play alone is left out.

    Parameters
    ----------
    arms, rewards
        Plays in time order, (n_plays,) for one user or (..., n_plays).
    draws
        Whether equal rewards are a draw (winner -1).

    Returns
    -------
    pairs : int64 (..., n_plays // 2, 2)
    winners : int64 (..., n_plays // 2)

    Examples
    --------
    >>> pairs, winners = duels_from_rewards([0, 1, 2, 0], [3.0, 1.0, 2.0, 5.0])
    >>> pairs.tolist(), winners.tolist()
    ([[0, 1], [2, 0]], [0, 0])
    """
    plays, values = np.asarray(arms), finite_array("rewards", rewards)
    if plays.ndim == 0 or plays.shape != values.shape or (plays.dtype.kind != "i" and plays.size):
        raise LobInputError(
            f"arms must be whole numbers and as many as rewards, got {plays.dtype} of shape "
            f"{plays.shape} and rewards of shape {values.shape}"
        )
    n = plays.shape[-1] // 2 * 2
    pairs = np.stack([plays[..., 0:n:2], plays[..., 1:n:2]], axis=-1).astype(np.int64)
    first, second = values[..., 0:n:2], values[..., 1:n:2]
    winners = np.where(first > second, pairs[..., 0], pairs[..., 1])
    return pairs, np.where(first == second, -1, winners) if draws else winners
