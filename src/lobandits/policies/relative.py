"""RelativeLobTS: duels instead of rewards, the appendix "A note on relative feedback"."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import BoolArray, FloatArray, IntArray, generator, read_only, real, whole
from lobandits._jit import kernel
from lobandits.errors import LobInputError
from lobandits.policies.duels import DuelState, checked_duels
from lobandits.policies.explain import Explanation, rows
from lobandits.policies.families import Ordered
from lobandits.policies.rewards import checked_users, user_indices
from lobandits.policies.sampling import draw_weighted, exponentiate, pick, spread
from lobandits.policies.state import fill, stored_users

CUT = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class RelativeLobTS(Ordered):
    r"""Sample two states from :math:`P(s) \propto (1/2 - \rho)^{n(s)}`; their top arms duel.

    n(s) counts the inversions: duels won by the arm that stands lower in the order of s. Pairs
    that s does not compare count for nothing. The two draws are independent, so both may give
    the same arm. Arms that share the top of a state are equally likely; states below 1e-12 of
    the most likely one have probability 0.

    Parameters
    ----------
    orders
        The orders of all states: shared by all users, or one set per user.
    rho
        The margin, from 0 to below 1/2: the lower arm wins with probability at most
        1/2 - rho.

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
    rho: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._fix(rho=real("rho", self.rho))
        if not 0 <= self.rho < 0.5:
            raise LobInputError(
                f"rho must be at least 0 and below 0.5, where one inversion rules a state out; "
                f"got {self.rho}"
            )

    @cached_property
    def _tables(self) -> tuple[BoolArray, BoolArray, float]:
        """Closures (u, m, k, k), top arms (u, m, k), and the log of an inversion's weight."""
        k, m = self.orders.n_arms, self.orders.n_states
        above = read_only(self.orders.precedes.reshape(-1, m, k, k))
        return above, read_only(self.orders.maximal.reshape(-1, m, k)), math.log(0.5 - self.rho)

    def start(self, n_users: int | None = None) -> DuelState:
        """Return the state of ``n_users`` users without duels (by default 1, or `n_users`)."""
        default = self.n_users
        n = whole("n_users", (default or 1) if n_users is None else n_users)
        if default not in (None, n):
            raise LobInputError(f"n_users is {n}, but this policy has orders for {default} users")
        return DuelState(wins=np.zeros((n, self.n_arms, self.n_arms), np.int64))

    def choose(self, state: DuelState, rng: np.random.Generator | int) -> IntArray:
        """Return two arms for each user to compare, (n_users, 2)."""
        self._check(state)
        return sampled_pairs(
            state.wins, *self._tables, CUT, generator(rng).random((state.n_users, 2))
        )

    def record(
        self,
        state: DuelState,
        pairs: ArrayLike,
        winners: ArrayLike,
        users: ArrayLike | None = None,
    ) -> None:
        """Add duels to ``state``, in place; nothing is written if anything is refused.

        Parameters
        ----------
        state
            The state to change.
        pairs
            The two arms of each duel, (n_duels, 2).
        winners
            Which of the two won, (n_duels,); -1 for a draw, which counts for nothing.
        users
            Whose duels these are: by default one for each user, in order.
        """
        self._check(state)
        duels, won = checked_duels(pairs, winners, self.n_arms)
        given = user_indices(checked_users(state.n_users, len(won), users), state.n_users)
        lost = duels.sum(axis=1) - won
        decided = won >= 0
        np.add.at(state.wins, (given[decided], won[decided], lost[decided]), 1)

    def probabilities(self, state: DuelState) -> FloatArray:
        """Return the chance of each pair (first arm, second arm), (n_users, n_arms, n_arms)."""
        self._check(state)
        odds, _ = duel_odds(state.wins, *self._tables, CUT)
        return odds[:, :, None] * odds[:, None, :]

    def explain(self, state: DuelState, user: int = 0) -> Explanation:
        """Return each arm's wins and chance to be drawn, and each state's inversions."""
        self._check(state)
        row = user_indices(user, state.n_users)
        wins = state.take(row).wins
        odds, inversions = duel_odds(wins, *self.take(row)._tables, CUT)
        weights = inversions[0] * self._tables[2]
        total = exponentiate(weights, CUT)
        won, lost = wins[0].sum(axis=1), wins[0].sum(axis=0)
        return Explanation(
            title=f"{self!r}, user {user}, {int(wins.sum())} duels",
            arms=rows(arm=self.arms, won=won, lost=lost, probability=odds[0]),
            states=rows(
                state=range(len(weights)), inversions=inversions[0], posterior=weights / total
            ),
        )

    def restore(self, data: Mapping[str, ArrayLike]) -> DuelState:
        """Return the state whose `DuelState.to_dict` is ``data``, after checking it."""
        state = self.start(stored_users(data, "wins"))
        fill(state, data)
        return state

    def _check(self, state: DuelState) -> None:
        if type(state) is not DuelState:
            raise LobInputError(
                f"relative needs a DuelState, as start() makes it, got {type(state).__name__}"
            )
        n, k, _ = state.wins.shape
        if k != self.n_arms or self.n_users not in (None, n):
            raise LobInputError(
                f"the state has {n} users and {k} arms, the policy "
                f"{self.n_users or 'any number of'} users and {self.n_arms} arms"
            )


@kernel
def count_inversions(wins: IntArray, above: BoolArray, out: FloatArray) -> None:
    """Write n(s): wins of arm b over arm a, summed over the pairs where s puts a above b."""
    m, k, _ = above.shape
    for s in range(m):
        out[s] = 0.0
        for a in range(k):
            for b in range(k):
                if above[s, a, b]:
                    out[s] += wins[b, a]


@kernel
def sampled_pairs(
    wins: IntArray,
    above: BoolArray,
    maximal: BoolArray,
    log_weight: float,
    cut: float,
    noise: FloatArray,
) -> IntArray:
    """Return a top arm of each of two states drawn from each user's posterior."""
    pairs = np.empty(noise.shape, np.int64)
    weights = np.empty(above.shape[1])
    for u in range(len(wins)):
        row = u if len(above) > 1 else 0
        count_inversions(wins[u], above[row], weights)
        weights *= log_weight
        total = exponentiate(weights, cut)
        for j in range(2):
            s, left = draw_weighted(weights, total, noise[u, j])
            pairs[u, j], _ = pick(maximal[row, s], True, left)
    return pairs


@kernel
def duel_odds(
    wins: IntArray, above: BoolArray, maximal: BoolArray, log_weight: float, cut: float
) -> tuple[FloatArray, FloatArray]:
    """Return the chance of each arm in one draw of `sampled_pairs`, (n, k), and n(s), (n, m)."""
    n, k, _ = wins.shape
    odds, inversions = np.zeros((n, k)), np.empty((n, above.shape[1]))
    for u in range(n):
        row = u if len(above) > 1 else 0
        count_inversions(wins[u], above[row], inversions[u])
        weights = inversions[u] * log_weight
        total = exponentiate(weights, cut)
        for s in range(len(weights)):
            if weights[s] > 0.0:
                spread(maximal[row, s], True, weights[s] / total, odds[u])
    return odds, inversions
