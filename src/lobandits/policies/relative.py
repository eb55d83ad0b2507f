"""RelativeLobTS: duels instead of rewards, the appendix "A note on relative feedback"."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    finite_array,
    generator,
    read_only,
    real,
)
from lobandits._jit import kernel
from lobandits.errors import LobInputError
from lobandits.policies.base import Explanation, rows
from lobandits.policies.families import CUT, NO_ODDS, Ordered, draw_top, exponentiate, spread_tops
from lobandits.policies.state import Statistics, array, checked_users, user_indices


@dataclass(eq=False, repr=False)
class DuelState(Statistics):
    """Duels seen by each user.

    Attributes
    ----------
    wins : int64 (n_users, n_arms, n_arms)
        ``wins[u, a, b]`` is how often arm a won against arm b.
    """

    wins: IntArray = field(metadata=array("sum", "arms", "arms"))

    def __repr__(self) -> str:
        duels = int(self.wins.sum())
        return f"DuelState(n_users={self.n_users}, n_arms={self.n_arms}, duels={duels})"


@dataclass(frozen=True, eq=False, repr=False)
class RelativeLobTS(Ordered[DuelState]):
    r"""Sample two states from :math:`P(s) \propto (1/2 - \rho)^{n(s)}`; their top arms duel.

    n(s) counts the inversions: duels won by the arm that stands lower in the order of s. Pairs
    that s does not compare count for nothing. The two draws are independent: both may give the
    same arm. Arms that share a top are equally likely; states below 1e-12 of the most likely one
    have probability 0.

    Parameters
    ----------
    orders
        As in `LobTS`.
    rho
        The margin in [0, 1/2): the lower arm wins with probability at most 1/2 - rho.

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
    state_type = DuelState
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

    def choose(self, state: DuelState, rng: np.random.Generator | int) -> IntArray:
        """Return two arms for each user to compare, (n_users, 2)."""
        self._check(state)
        noise = generator(rng).random((state.n_users, 2))
        return play(state.wins, *self._tables, CUT, noise, NO_ODDS)

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
        odds = self._odds(state.wins)
        return odds[:, :, None] * odds[:, None, :]

    def explain(self, state: DuelState, user: int = 0) -> Explanation:
        """Return each arm's wins and chance to be drawn, and each state's inversions."""
        self._check(state)
        row = user_indices(user, state.n_users)
        wins = state.take(row).wins
        one = self.take(row)
        above, _, log_weight = one._tables
        inversions = np.empty(self.orders.n_states)
        count_inversions(wins[0], above[0], inversions)
        weights = inversions * log_weight
        total = exponentiate(weights, CUT)
        won, lost = wins[0].sum(axis=1), wins[0].sum(axis=0)
        return Explanation(
            title=f"{self!r}, user {user}, {int(wins.sum())} duels",
            arms=rows(arm=self.arms, won=won, lost=lost, probability=one._odds(wins)[0]),
            states=rows(
                state=range(len(weights)), inversions=inversions, posterior=weights / total
            ),
        )

    def _odds(self, wins: IntArray) -> FloatArray:
        """Return the chance of each arm in one of the two draws, (n_users, n_arms)."""
        odds = np.zeros(wins.shape[:2])
        play(wins, *self._tables, CUT, np.empty((0, 2)), odds)
        return odds


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


def checked_duels(pairs: ArrayLike, winners: ArrayLike, n_arms: int) -> tuple[IntArray, IntArray]:
    """Return duels as arrays (d, 2) and (d,), or name the first that cannot be recorded."""
    duels, won = np.asarray(pairs), np.asarray(winners)
    if not duels.size and not won.size:
        return np.empty((0, 2), np.int64), np.empty(0, np.int64)
    whole = duels.dtype.kind in "iu" and won.dtype.kind in "iu"
    if not whole or won.ndim != 1 or duels.shape != (len(won), 2):
        raise LobInputError(
            "pairs must be whole numbers of shape (n_duels, 2) and winners of shape (n_duels,), "
            f"got {duels.dtype} of shape {duels.shape} and {won.dtype} of shape {won.shape}"
        )
    outside = ((duels < 0) | (duels >= n_arms)).any(axis=1)
    foreign = (won != -1) & (duels != won[:, None]).all(axis=1)
    if outside.any():
        i = int(outside.argmax())
        raise LobInputError(f"pairs[{i}] is {duels[i].tolist()}; arms go from 0 to {n_arms - 1}")
    if foreign.any():
        i = int(foreign.argmax())
        raise LobInputError(
            f"winners[{i}] is {won[i]}, which is neither arm of {duels[i].tolist()} nor -1 (a draw)"
        )
    return duels.astype(np.int64), won.astype(np.int64)


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
def play(
    wins: IntArray,
    above: BoolArray,
    maximal: BoolArray,
    log_weight: float,
    cut: float,
    noise: FloatArray,
    odds: FloatArray,
) -> IntArray:
    """Return a top arm of each of two states drawn from each user's posterior.

    Without noise, write the odds of all arms in one draw.
    """
    pairs = np.empty(noise.shape, np.int64)
    weights = np.empty(above.shape[1])
    for u in range(len(wins)):
        row = u if len(above) > 1 else 0
        count_inversions(wins[u], above[row], weights)
        weights *= log_weight
        total = exponentiate(weights, cut)
        if len(noise):
            for j in range(2):
                _, pairs[u, j] = draw_top(weights, total, maximal[row], noise[u, j])
        else:
            spread_tops(weights, total, maximal[row], odds[u])
    return pairs
