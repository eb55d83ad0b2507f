"""mUCB: optimism over the states that still explain their rewards, after Hong et al. (2020)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, not_negative, whole
from lobandits.basics.kernel import Plain, kernel, lean
from lobandits.errors import LobInputError
from lobandits.policies.choices import all_allowed, draw_weighted, pick, spread
from lobandits.policies.explanation import Details
from lobandits.policies.means_policy import MeansPolicy, allowed_means, best_means
from lobandits.policies.state import State, array, empty_state


class BeliefTables(NamedTuple):
    """What a state's consistency is judged by; u = 1 where all users share the means."""

    means: FloatArray  # (u, m, k)
    tops: FloatArray  # the best mean of each state, (u, m)
    width: float  # c sigma^2 log T
    margin: float


@dataclass(eq=False, repr=False)
class MUCBState(State):
    """Rewards, and what they say of the beliefs under which they were played.

    Attributes
    ----------
    gaps, visits : (n_users, n_states)
        G(s) and N(s): the sum of mu(a, s) - r over the rewards under the belief s; their number.
    beliefs : int64 (n_users, n_arms)
        The belief under which each arm was chosen last; -1: never.
    """

    gaps: FloatArray = field(metadata=array("sum", "states", dtype=np.float64))
    visits: IntArray = field(metadata=array("sum", "states"))
    beliefs: IntArray = field(metadata=array("memory", "arms", empty=-1))


@dataclass(frozen=True)
class MUCB(MeansPolicy[MUCBState]):
    r"""Believe in the consistent state with the highest mean and play its best arm.

    State s is consistent while :math:`G(s) \le \sigma \sqrt{c\, N(s) \log T} + \epsilon N(s)`,
    where N(s) counts the rewards played under the belief s and G(s) sums by how much they fell
    short of :math:`\mu(a, s)`. If no state is consistent, the one that exceeds its bound least is
    believed; of tied states, the one with the most visits. Remaining ties, between states and
    between a state's best arms, are broken at random. Where only some arms are allowed, the best
    mean and the best arms of a state are among these.

    A reward belongs to the belief under which its arm was chosen last, so late rewards find
    theirs. Rewards of arms that `choose` never chose (or not since a merge) are not used.

    Parameters
    ----------
    state_means, sigma, arms
        As in `MTS`.
    horizon
        Number of rounds T.
    constant
        c in the bound; 6 in Hong et al.
    margin
        epsilon in the bound: by how much the means may be wrong.

    Examples
    --------
    >>> policy = MUCB([[1.0, 0.0], [0.0, 2.0]], sigma=1.0, horizon=100)
    >>> policy.probabilities(policy.start())
    array([[0., 1.]])
    """

    name = "mucb"
    label = "mUCB"
    style = ("#56b4e9", "dashed", "v")
    state_type = MUCBState
    horizon: int
    constant: float = 6.0
    margin: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            horizon=whole("horizon", self.horizon),
            constant=not_negative("constant", self.constant),
            margin=not_negative("margin", self.margin),
        )

    @cached_property
    def _beliefs(self) -> BeliefTables:
        width = self.constant * self.sigma**2 * math.log(self.horizon)
        return BeliefTables(self._tables, self._tops, width, self.margin)

    @property
    def counts_suffice(self) -> bool:
        """No: gaps belong to the beliefs under which arms were chosen."""
        return False

    def new_state(self, n_users: int) -> MUCBState:
        """Return an empty state."""
        return empty_state(MUCBState, n_users, arms=self.n_arms, states=self.n_states)

    def restore(self, data: Mapping[str, ArrayLike]) -> MUCBState:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        if ((state.beliefs < -1) | (state.beliefs >= self.n_states)).any():
            raise LobInputError(f"beliefs must be states from 0 to {self.n_states - 1}, or -1")
        return state

    def odds(self, state: MUCBState, allowed: BoolArray) -> FloatArray:
        """Return the chance that the believed state has each arm as its best allowed one."""
        return best_arm_odds(state.gaps, state.visits, allowed, tuple(self._beliefs))

    def decide(self, state: MUCBState, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Return a best allowed arm of the believed state, and remember the belief."""
        chosen = np.empty(state.n_users, np.int64)
        args = state.gaps, state.visits, state.beliefs, allowed, tuple(self._beliefs)
        play(*args, noise, chosen)
        return chosen

    def absorb(
        self, state: MUCBState, users: IntArray, arms: IntArray, rewards: FloatArray
    ) -> None:
        """Add rewards to the arms, and to the beliefs that chose them."""
        super().absorb(state, users, arms, rewards)
        add_gaps(state.gaps, state.visits, state.beliefs, self._tables, users, arms, rewards)

    def details(self, state: MUCBState, allowed: BoolArray) -> Details:
        """Return each state's gap, visits and bound, and whether it is consistent."""
        visits, gaps = state.visits[0], state.gaps[0]
        bounds = np.sqrt(self._beliefs.width * visits) + self.margin * visits
        best, tops = self._best_names(allowed), np.where(allowed[0], self._tables[0], -np.inf)
        columns = {
            "best arm": best,
            "best mean": tops.max(axis=1),
            "visits": visits,
            "gap": gaps,
            "bound": bounds,
            "consistent": gaps <= bounds,
        }
        notes = [] if (gaps <= bounds).any() else ["No state is consistent: the means are wrong."]
        return Details(states=columns, notes=notes)


@lean
def mark_believable(
    gaps: FloatArray,
    visits: IntArray,
    tops: FloatArray,
    width: float,
    margin: float,
    out: FloatArray,
) -> None:
    """Write 1 for the states of one user that may be believed, else 0. Cost O(m).

    They are the best by (best mean, visits) among the consistent ones or, if there is none,
    by (distance of gap below bound, visits). ``out`` holds the first of the two until the end.
    """
    found = False
    for s in range(len(gaps)):
        out[s] = np.sqrt(width * visits[s]) + margin * visits[s] - gaps[s]
        found |= out[s] >= 0.0
    highest, most = -np.inf, 0
    for s in range(len(gaps)):
        if found:
            out[s] = tops[s] if out[s] >= 0.0 else -np.inf
        if out[s] > highest or (out[s] == highest and visits[s] > most):
            highest, most = out[s], visits[s]
    for s in range(len(gaps)):
        out[s] = 1.0 if out[s] == highest and visits[s] == most else 0.0


@lean
def read_tops(beliefs: BeliefTables, row: int, allowed: BoolArray, tops: FloatArray) -> None:
    """Write the best mean of each state among the allowed arms. O(m), or O(m k)."""
    if all_allowed(allowed):
        for s in range(tops.shape[0]):
            tops[s] = beliefs.tops[row, s]
    else:
        best_means(beliefs.means, row, allowed, tops)


@kernel
def play(
    gaps: FloatArray,
    visits: IntArray,
    last: IntArray,
    allowed: BoolArray,
    plain: Plain,
    noise: FloatArray,
    chosen: IntArray,
) -> None:
    """Write a best allowed arm of each user's believed state, and the state to ``last``."""
    beliefs = BeliefTables(*plain)
    (n, m), k = gaps.shape, last.shape[1]
    believable, tops, means = np.empty(m), np.empty(m), np.empty(k)
    shared = len(allowed) == 1 and len(beliefs.means) == 1
    for u in range(n):
        some, row = allowed[u if len(allowed) > 1 else 0], u if len(beliefs.means) > 1 else 0
        if u == 0 or not shared:
            read_tops(beliefs, row, some, tops)
        mark_believable(gaps[u], visits[u], tops, beliefs.width, beliefs.margin, believable)
        s, left = draw_weighted(believable, believable.sum(), noise[u])
        top = allowed_means(beliefs.means, row, s, some, means)
        chosen[u], _ = pick(means, top, left)
        last[u, chosen[u]] = s


@kernel
def best_arm_odds(
    gaps: FloatArray, visits: IntArray, allowed: BoolArray, plain: Plain
) -> FloatArray:
    """Return the odds of `play` over its noise, (n, k)."""
    beliefs = BeliefTables(*plain)
    (n, m), k = gaps.shape, beliefs.means.shape[2]
    odds = np.zeros((n, k))
    believable, tops, means = np.empty(m), np.empty(m), np.empty(k)
    for u in range(n):
        some, row = allowed[u if len(allowed) > 1 else 0], u if len(beliefs.means) > 1 else 0
        read_tops(beliefs, row, some, tops)
        mark_believable(gaps[u], visits[u], tops, beliefs.width, beliefs.margin, believable)
        for s in range(m):
            if believable[s] > 0.0:
                top = allowed_means(beliefs.means, row, s, some, means)
                spread(means, top, 1.0, odds[u])
    return odds


@kernel
def add_gaps(
    gaps: FloatArray,
    visits: IntArray,
    beliefs: IntArray,
    means: FloatArray,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
) -> None:
    """Add mu(a, s) - r of each reward to the belief s that chose its arm, in place."""
    for i in range(len(users)):
        u, a = users[i], arms[i]
        s = beliefs[u, a]
        if s >= 0:
            gaps[u, s] += means[u if len(means) > 1 else 0, s, a] - rewards[i]
            visits[u, s] += 1
