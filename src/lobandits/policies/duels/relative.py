"""RelativeLobTS: orders and duels, the paper's appendix "A note on relative feedback"."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, read_only, real, user_indices
from lobandits.basics.kernel import kernel
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies.duels.duel_policy import DuelPolicy, DuelState
from lobandits.policies.explanation import Explanation, rows
from lobandits.policies.shares import checked_shares, log_shares
from lobandits.rules.choices import CUT, draw_arms


class DuelTables(NamedTuple):
    """Orders as the kernels read them; u = 1 where all users share them."""

    above: BoolArray  # (u, m, k, k): the closures
    maximal: BoolArray  # (u, m, k)
    log_weight: float  # of one inversion, log(1/2 - rho)
    log_shares: FloatArray  # (m,)


@dataclass(frozen=True)
class RelativeLobTS(DuelPolicy):
    r"""Draw two arms by their chance to be the best.

    .. math:: P(a) \propto \sum_s p(s) (1/2 - \rho)^{n(s, a)} / |\mathrm{Max}(s)|

    The sum is over the states with a in Max(s). n(s, a) counts the inversions if s is the state and
    a its best arm: duels won by the arm that stands lower in the order of s, or won against a by
    an arm that s does not compare with a. Other pairs that s does not compare count for nothing.
    The two draws are independent: both may give the same arm. Arms below 1e-12 of the most likely
    one have probability 0.

    Parameters
    ----------
    orders
        As in `LobTS`.
    rho
        The margin in [0, 1/2): the lower arm wins with probability at most 1/2 - rho.
    shares
        The prior p(s) of the states, by default uniform.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = RelativeLobTS(LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]]), rho=0.25)
    >>> state = policy.start()
    >>> policy.record(state, pairs=[[0, 1]], winners=[0])
    >>> policy.probabilities(state)[0].round(2)
    array([[0.64, 0.  , 0.16],
           [0.  , 0.  , 0.  ],
           [0.16, 0.  , 0.04]])
    """

    name = "relative"
    orders: LatentOrders | UserOrders = field(metadata={"decode": LatentOrders.from_dict})
    rho: float = 0.25
    shares: FloatArray | None = field(default=None, repr=False)
    n_arms: int = field(init=False)
    arms: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.orders, LatentOrders | UserOrders):
            raise LobInputError(f"orders must be LatentOrders or UserOrders, got {self.orders!r}")
        self._set(
            rho=real("rho", self.rho),
            shares=checked_shares(self.shares, self.orders.n_states),
            n_arms=self.orders.n_arms,
            arms=self.orders.arms,
        )
        if not 0 <= self.rho < 0.5:
            raise LobInputError(
                f"rho must be at least 0 and below 0.5, where one inversion rules a state out; "
                f"got {self.rho}"
            )

    @property
    def n_users(self) -> int | None:
        """Number of users that have orders of their own; None if all share the orders."""
        return self.orders.n_users if isinstance(self.orders, UserOrders) else None

    def take(self, users: ArrayLike) -> Self:
        """Return the policy for some of its users; itself if all users share it."""
        if not isinstance(self.orders, UserOrders):
            return self
        return self._with(orders=self.orders.take(user_indices(users, self.orders.n_users)))

    @cached_property
    def _tables(self) -> DuelTables:
        k, m = self.orders.n_arms, self.orders.n_states
        return DuelTables(
            above=read_only(self.orders.precedes.reshape(-1, m, k, k)),
            maximal=read_only(self.orders.maximal.reshape(-1, m, k)),
            log_weight=math.log(0.5 - self.rho),
            log_shares=log_shares(self.shares, m),
        )

    def pairs(self, state: DuelState, rng: np.random.Generator) -> IntArray:
        """Return two arms for each user, drawn by the odds, (n_users, 2)."""
        noise, odds = rng.random((state.n_users, 2)), self._odds(state)
        return np.stack([draw_arms(odds, noise[:, 0]), draw_arms(odds, noise[:, 1])], axis=1)

    def probabilities(self, state: DuelState) -> FloatArray:
        """Return the chance of each pair (first arm, second arm), (n_users, n_arms, n_arms)."""
        self._check(state)
        odds = self._odds(state)
        odds /= odds.sum(axis=1, keepdims=True)
        return odds[:, :, None] * odds[:, None, :]

    def explain(self, state: DuelState, user: int = 0) -> Explanation:
        """Return each arm's wins and chance to be drawn, and each state's inversions."""
        self._check(state)
        row = user_indices(user, state.n_users)
        one, some = self.take(row), state.take(row)
        wins, odds = some.wins[0], one._odds(some)[0]
        counted = np.where(one._tables.above[0], wins.T, 0).sum(axis=(1, 2))
        logs = counted * one._tables.log_weight + one._tables.log_shares
        weights = np.exp(logs - logs.max())
        won, lost = wins.sum(axis=1), wins.sum(axis=0)
        return Explanation(
            title=f"{self!r}, user {user}, {int(wins.sum())} duels",
            arms=rows(arm=self.arms, won=won, lost=lost, probability=odds / odds.sum()),
            states=rows(
                state=range(len(weights)), inversions=counted, posterior=weights / weights.sum()
            ),
        )

    def _odds(self, state: DuelState) -> FloatArray:
        """Return the odds of each arm in one of the two draws, (n_users, n_arms)."""
        return top_odds(state.wins, self._tables, CUT)


@kernel
def count_inversions(wins: IntArray, above: BoolArray) -> int:
    """Return n(s): wins of arm b over arm a, summed over the pairs where a is above b. O(k^2)."""
    k = len(wins)
    total = 0
    for a in range(k):
        for b in range(k):
            if above[a, b]:
                total += wins[b, a]
    return total


@kernel
def lost_beside(wins: IntArray, above: BoolArray, top: int) -> int:
    """Return the duels that ``top`` lost to arms which the order does not compare with it."""
    total = 0
    for b in range(len(wins)):
        if not above[top, b]:
            total += wins[b, top]
    return total


@kernel
def top_odds(wins: IntArray, t: DuelTables, cut: float) -> FloatArray:
    """Return the odds of every user's arms, relative to the best item. Cost O(n m k^2).

    An item is a state with a maximal arm on top; items far below the best are 0.
    """
    n, k = wins.shape[:2]
    m = t.above.shape[1]
    logs = np.empty((m, k))
    odds = np.zeros((n, k))
    for u in range(n):
        row = u if len(t.above) > 1 else 0
        logs[:] = -np.inf
        for s in range(m):
            above, tops = t.above[row, s], t.maximal[row, s]
            own = count_inversions(wins[u], above)
            share = t.log_shares[s] - np.log(float(tops.sum()))
            for a in range(k):
                if tops[a]:
                    logs[s, a] = share + t.log_weight * (own + lost_beside(wins[u], above, a))
        best = logs.max()
        for s in range(m):
            for a in range(k):
                gap = logs[s, a] - best
                odds[u, a] += np.exp(gap) if gap >= np.log(cut) else 0.0
    return odds
