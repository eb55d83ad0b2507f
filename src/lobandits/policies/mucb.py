"""mUCB: optimism over the states that still explain their rewards, after Hong et al. (2020)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import BoolArray, FloatArray, IntArray, not_negative, whole
from lobandits._jit import kernel
from lobandits.errors import LobInputError
from lobandits.policies.base import Details
from lobandits.policies.families import MeansPolicy, OneKernelPolicy, draw_top, spread_tops
from lobandits.policies.state import State, array, empty_state


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


@dataclass(frozen=True, eq=False, repr=False)
class MUCB(OneKernelPolicy, MeansPolicy):
    r"""Believe in the consistent state with the highest mean and play its best arm.

    State s is consistent while :math:`G(s) \le \sigma \sqrt{c\, N(s) \log T} + \epsilon N(s)`,
    where N(s) counts the rewards played under the belief s and G(s) sums by how much they fell
    short of :math:`\mu(a, s)`. If no state is consistent, the one that exceeds its bound least is
    believed; of tied states, the one with the most visits. Remaining ties, between states and
    between a state's best arms, are broken at random.

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
    state_type = MUCBState
    horizon: int
    constant: float = 6.0
    margin: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._fix(
            horizon=whole("horizon", self.horizon),
            constant=not_negative("constant", self.constant),
            margin=not_negative("margin", self.margin),
        )

    @property
    def _width(self) -> float:
        return self.constant * self.sigma**2 * math.log(self.horizon)

    @property
    def counts_suffice(self) -> bool:
        """No: gaps belong to the beliefs under which arms were chosen."""
        return False

    def new_state(self, n_users: int) -> MUCBState:
        """Return an empty state."""
        return empty_state(MUCBState, n_users, arms=self.n_arms, states=self.n_states)

    def restore(self, data: Mapping[str, ArrayLike]) -> State:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        assert isinstance(state, MUCBState)
        if ((state.beliefs < -1) | (state.beliefs >= self.n_states)).any():
            raise LobInputError(f"beliefs must be states from 0 to {self.n_states - 1}, or -1")
        return state

    def _play(self, state: State, noise: FloatArray, odds: FloatArray) -> IntArray:
        assert isinstance(state, MUCBState)
        return play(
            state.gaps,
            state.visits,
            state.beliefs,
            self._tops,
            self._best,
            self._width,
            self.margin,
            noise,
            odds,
        )

    def absorb(self, state: State, users: IntArray, arms: IntArray, rewards: FloatArray) -> None:
        """Add rewards to the arms, and to the beliefs that chose them."""
        assert isinstance(state, MUCBState)
        super().absorb(state, users, arms, rewards)
        add_gaps(state.gaps, state.visits, state.beliefs, self._tables, users, arms, rewards)

    def details(self, state: State) -> Details:
        """Return each state's gap, visits and bound, and whether it is consistent."""
        assert isinstance(state, MUCBState)
        visits, gaps = state.visits[0], state.gaps[0]
        bounds = np.sqrt(self._width * visits) + self.margin * visits
        columns = {
            "best arm": self._best_names(),
            "best mean": self._tops[0],
            "visits": visits,
            "gap": gaps,
            "bound": bounds,
            "consistent": gaps <= bounds,
        }
        notes = [] if (gaps <= bounds).any() else ["No state is consistent: the means are wrong."]
        return Details(states=columns, notes=notes)


@kernel
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


@kernel
def play(
    gaps: FloatArray,
    visits: IntArray,
    beliefs: IntArray,
    tops: FloatArray,
    best: BoolArray,
    width: float,
    margin: float,
    noise: FloatArray,
    odds: FloatArray,
) -> IntArray:
    """Return a best arm of each user's believed state, and write the state to ``beliefs``.

    Without noise, write the odds of all arms.
    """
    n, m = gaps.shape
    chosen = np.empty(len(noise), np.int64)
    believable = np.empty(m)
    for u in range(n):
        row = u if len(tops) > 1 else 0
        mark_believable(gaps[u], visits[u], tops[row], width, margin, believable)
        total = believable.sum()
        if len(noise):
            s, chosen[u] = draw_top(believable, total, best[row], noise[u])
            beliefs[u, chosen[u]] = s
        else:
            spread_tops(believable, total, best[row], odds[u])
    return chosen


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
