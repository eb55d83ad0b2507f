"""DuelPolicy: which two arms each user compares next, from who won how often against whom."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import IntArray, whole
from lobandits.basics.frozen import Frozen
from lobandits.errors import LobInputError


class DuelPolicy(Frozen, ABC):
    """Chooses two arms for each user; a state is the array ``wins`` (n_users, n_arms, n_arms).

    ``wins[u, a, b]`` is how often arm a won against arm b for user u. States of the same users
    merge by addition.
    """

    n_arms: int

    def start(self, n_users: int = 1) -> IntArray:
        """Return the wins of users without duels: zeros."""
        return np.zeros((whole("n_users", n_users), self.n_arms, self.n_arms), np.int64)

    @abstractmethod
    def choose(self, wins: IntArray, rng: np.random.Generator | int) -> IntArray:
        """Return two arms for each user to compare, (n_users, 2)."""

    def record(self, wins: IntArray, pairs: ArrayLike, winners: ArrayLike) -> None:
        """Add a duel of each user to ``wins``, in place; nothing is written if any is refused.

        ``pairs`` (n_users, 2) are the arms that were compared, ``winners`` (n_users,) the ones that
        won; -1 is a draw. Draws, and arms against themselves, count for nothing.
        """
        duels, won = np.asarray(pairs), np.asarray(winners)
        n, k = len(wins), self.n_arms
        if wins.shape != (n, k, k) or duels.shape != (n, 2) or won.shape != (n,):
            raise LobInputError(
                f"pairs must have shape ({n}, 2), winners ({n},) and wins ({n}, {k}, {k}), got "
                f"{duels.shape}, {won.shape} and {wins.shape}"
            )
        if duels.dtype.kind not in "iu" or won.dtype.kind not in "iu":
            raise LobInputError(f"arms must be whole numbers, got {duels.dtype} and {won.dtype}")
        outside = ((duels < 0) | (duels >= k)).any(axis=1)
        wrong = outside | ((won != -1) & (duels != won[:, None]).all(axis=1))
        if wrong.any():
            u = int(wrong.argmax())
            raise LobInputError(
                f"user {u}: arm {won[u]} cannot have won the duel {duels[u].tolist()}; arms go "
                f"from 0 to {k - 1}, and -1 is a draw"
            )
        lost = duels.sum(axis=1) - won
        decided = np.flatnonzero((won >= 0) & (won != lost))
        wins[decided, won[decided], lost[decided]] += 1
