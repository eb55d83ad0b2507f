"""RelativeLobTS: orders and duels, the paper's appendix "A note on relative feedback"."""

import math
from dataclasses import dataclass, field

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray, generator, real
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.paper.duels.duel_policy import DuelPolicy


@dataclass(frozen=True)
class RelativeLobTS(DuelPolicy):
    r"""Draw two arms by their chance to be the best.

    .. math:: P(a) \propto \sum_s (1/2 - \rho)^{n(s, a)} / |\mathrm{Max}(s)|

    The sum is over the states with a in Max(s). n(s, a) counts the inversions if s is the state and
    a its best arm: duels won by the arm that stands lower in the order of s, or won against a by
    an arm that s does not compare with a. Other pairs that s does not compare count for nothing.
    The two draws are independent: both may give the same arm.

    Parameters
    ----------
    orders
        As in `LobTS`; with `UserOrders` for just these users.
    rho
        The margin in [0, 1/2): the lower arm wins with probability at most 1/2 - rho.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = RelativeLobTS(LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]]), rho=0.25)
    >>> wins = policy.start()
    >>> policy.record(wins, pairs=[[0, 1]], winners=[0])
    >>> policy.probabilities(wins)[0].round(2)
    array([[0.64, 0.  , 0.16],
           [0.  , 0.  , 0.  ],
           [0.16, 0.  , 0.04]])
    """

    orders: LatentOrders | UserOrders
    rho: float = 0.25
    n_arms: int = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.orders, LatentOrders | UserOrders):
            raise LobInputError(f"orders must be LatentOrders or UserOrders, got {self.orders!r}")
        self._set(rho=real("rho", self.rho), n_arms=self.orders.n_arms)
        if not 0 <= self.rho < 0.5:
            raise LobInputError(
                f"rho must be at least 0 and below 0.5, where one inversion rules a state out; "
                f"got {self.rho}"
            )

    def choose(self, wins: IntArray, rng: np.random.Generator | int) -> IntArray:
        """Return two arms for each user, drawn by their chances, (n_users, 2)."""
        sums = self._chances(wins).cumsum(axis=1)
        levels = generator(rng).random((len(wins), 2)) * sums[:, -1:]
        pairs: IntArray = (sums[:, None, :] > levels[:, :, None]).argmax(axis=2)
        return pairs

    def probabilities(self, wins: IntArray) -> FloatArray:
        """Return the chance of each pair (first arm, second arm), (n_users, n_arms, n_arms)."""
        chances = self._chances(wins)
        return chances[:, :, None] * chances[:, None, :]

    def _chances(self, wins: IntArray) -> FloatArray:
        """Return P(a), (n_users, n_arms), in O(n_users n_states n_arms^2)."""
        m, k = self.orders.n_states, self.n_arms
        above = self.orders.precedes.reshape(-1, m, k, k)
        if wins.shape != (len(wins), k, k) or len(above) not in (1, len(wins)):
            raise LobInputError(f"{self!r} cannot choose for wins of shape {wins.shape}")
        tops = self.orders.maximal.reshape(-1, m, k)
        # [u, s, a]: duels that a lost to arms that stand below it in s; those of all arms are the
        # inversions of s. With a on top, all that a lost are.
        below = (above * wins.transpose(0, 2, 1)[:, None]).sum(axis=3)
        lost = wins.sum(axis=1)[:, None, :]
        inversions = below.sum(axis=2, keepdims=True) + lost - below
        logs = inversions * math.log(0.5 - self.rho) - np.log(tops.sum(axis=2, keepdims=True))
        logs = np.where(tops, logs, -np.inf)
        odds = np.exp(logs - logs.max(axis=(1, 2), keepdims=True)).sum(axis=1)
        chances: FloatArray = odds / odds.sum(axis=1, keepdims=True)
        return chances
