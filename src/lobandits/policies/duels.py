"""Duels: what is recorded of them, and how rewards become duels."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import IntArray, finite_array
from lobandits.errors import LobInputError
from lobandits.policies.state import SUM, Statistics


@dataclass(eq=False, repr=False)
class DuelState(Statistics):
    """Duels seen by each user.

    Attributes
    ----------
    wins : int64 (n_users, n_arms, n_arms)
        ``wins[u, a, b]`` is how often arm a won against arm b.
    """

    wins: IntArray = field(metadata=SUM)

    def __repr__(self) -> str:
        n_users, n_arms, _ = self.wins.shape
        return f"DuelState(n_users={n_users}, n_arms={n_arms}, duels={int(self.wins.sum())})"


def duels_from_rewards(
    arms: ArrayLike, rewards: ArrayLike, draws: bool = False
) -> tuple[IntArray, IntArray]:
    """Return independent duels (a_1, a_2), (a_3, a_4), ... of consecutive plays.

    The first arm of a pair wins if its reward is larger, else the second one does, as in the
    paper. A last play without partner is left out.

    Parameters
    ----------
    arms, rewards
        Plays in time order, (n_plays,) for one user or (..., n_plays).
    draws
        Whether equal rewards are a draw (winner -1), not a win of the second arm.

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
    shape = (*plays.shape[:-1], plays.shape[-1] // 2, 2)
    pairs = plays[..., : 2 * shape[-2]].astype(np.int64).reshape(shape)
    first, second = np.moveaxis(values[..., : 2 * shape[-2]].reshape(shape), -1, 0)
    winners = np.where(first > second, pairs[..., 0], pairs[..., 1])
    return pairs, np.where(first == second, -1, winners) if draws else winners


def checked_duels(pairs: ArrayLike, winners: ArrayLike, n_arms: int) -> tuple[IntArray, IntArray]:
    """Return duels as arrays (d, 2) and (d,), or name the first that cannot be recorded."""
    duels, won = np.asarray(pairs), np.asarray(winners)
    if not duels.size and not won.size:
        return np.empty((0, 2), np.int64), np.empty(0, np.int64)
    for name, value, shape in (
        ("pairs", duels, (len(won.ravel()), 2)),
        ("winners", won, won.shape),
    ):
        if value.dtype.kind not in "iu" or value.shape != shape or won.ndim != 1:
            raise LobInputError(
                "pairs must be whole numbers of shape (n_duels, 2) and winners of shape "
                f"(n_duels,); {name} has {value.dtype} of shape {value.shape}"
            )
    outside = ((duels < 0) | (duels >= n_arms)).any(axis=1)
    foreign = (won != -1) & (won != duels[:, 0]) & (won != duels[:, 1])
    if outside.any():
        i = int(outside.argmax())
        raise LobInputError(f"pairs[{i}] is {duels[i].tolist()}; arms go from 0 to {n_arms - 1}")
    if foreign.any():
        i = int(foreign.argmax())
        raise LobInputError(
            f"winners[{i}] is {won[i]}, which is neither arm of {duels[i].tolist()} nor -1 (a draw)"
        )
    return duels.astype(np.int64), won.astype(np.int64)
