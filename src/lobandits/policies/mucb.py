"""mUCB: optimism over the states that still explain their rewards, after Hong et al. (2020)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import BoolArray, FloatArray, IntArray, not_negative, whole
from lobandits._jit import kernel
from lobandits.errors import LobInputError
from lobandits.policies.explain import Details
from lobandits.policies.families import MeansPolicy
from lobandits.policies.sampling import pick, spread
from lobandits.policies.state import SUM, State, no_rewards


@dataclass(eq=False, repr=False)
class MUCBState(State):
    """What mUCB remembers besides counts and sums.

    Attributes
    ----------
    gaps : float64 (n_users, n_states)
        G(s): sum of mu(a, s) - r over the rewards played under the belief s.
    visits : int64 (n_users, n_states)
        N(s): number of those rewards.
    beliefs : int64 (n_users, n_arms)
        The belief under which each arm was chosen last; -1: never.
    """

    gaps: FloatArray = field(metadata=SUM)
    visits: IntArray = field(metadata=SUM)
    beliefs: IntArray = field(metadata={"role": "memory", "empty": -1})


@dataclass(frozen=True, eq=False, repr=False)
class MUCB(MeansPolicy):
    r"""Believe in the consistent state with the highest mean and play its best arm.

    State s is consistent while :math:`G(s) \le \sigma \sqrt{c\, N(s) \log T} + \epsilon N(s)`,
    where N(s) counts the rewards played under the belief s and G(s) sums by how much they fell
    short of :math:`\mu(a, s)`. If no state is consistent, the one that exceeds its bound least is
    believed. Of tied states the one with the most visits is believed: a belief is kept while it
    is as good as any other. Remaining ties, between states and between a state's best arms, are
    broken uniformly at random.

    A reward belongs to the belief under which its arm was chosen last, so late rewards find
    theirs. A reward of an arm that `choose` never chose for the user (or not since states
    were merged) changes counts and sums only, which mUCB does not use.

    Parameters
    ----------
    state_means
        Means of the arms in each state: (n_states, n_arms), shared by all users, or
        (n_users, n_states, n_arms).
    sigma
        Standard deviation of rewards.
    horizon
        Number of rounds T.
    constant
        c in the bound; 6 in Hong et al.
    margin
        epsilon in the bound: by how much the means may be wrong, the model error of Hong et al.
    arms
        Names of the arms; by default ``"0", "1", ...``.

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
        """Return a state without beliefs."""
        return MUCBState(
            **no_rewards(n_users, self.n_arms),
            gaps=np.zeros((n_users, self.n_states)),
            visits=np.zeros((n_users, self.n_states), np.int64),
            beliefs=np.full((n_users, self.n_arms), -1),
        )

    def restore(self, data: Mapping[str, ArrayLike]) -> State:
        """Return the state whose `State.to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        assert isinstance(state, MUCBState)
        if ((state.beliefs < -1) | (state.beliefs >= self.n_states)).any():
            raise LobInputError(f"beliefs must be states from 0 to {self.n_states - 1}, or -1")
        return state

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        """Return each user's arm, and remember the belief that chose it."""
        assert isinstance(state, MUCBState)
        return believed_arms(
            state.gaps,
            state.visits,
            self._tops,
            self._best,
            self._width,
            self.margin,
            noise,
            state.beliefs,
        )

    def absorb(self, state: State, users: IntArray, arms: IntArray, rewards: FloatArray) -> None:
        """Add rewards to counts and sums, and to the beliefs that chose their arms."""
        assert isinstance(state, MUCBState)
        super().absorb(state, users, arms, rewards)
        add_gaps(state.gaps, state.visits, state.beliefs, self._tables, users, arms, rewards)

    def propensities(self, state: State) -> FloatArray:
        """Return equal chances for tied states, divided among their best arms."""
        assert isinstance(state, MUCBState)
        return believed_arm_odds(
            state.gaps, state.visits, self._tops, self._best, self._width, self.margin
        )

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
    by (distance of gap below bound, visits) among all. ``out`` holds the first of the two
    until the end.
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
def believed_arms(
    gaps: FloatArray,
    visits: IntArray,
    tops: FloatArray,
    best: BoolArray,
    width: float,
    margin: float,
    noise: FloatArray,
    beliefs: IntArray,
) -> IntArray:
    """Return a best arm of each user's believed state; write the state to ``beliefs``."""
    n, m = gaps.shape
    chosen = np.empty(n, np.int64)
    believable = np.empty(m)
    for u in range(n):
        row = u if len(tops) > 1 else 0
        mark_believable(gaps[u], visits[u], tops[row], width, margin, believable)
        s, left = pick(believable, 1.0, noise[u])
        chosen[u], _ = pick(best[row, s], True, left)
        beliefs[u, chosen[u]] = s
    return chosen


@kernel
def believed_arm_odds(
    gaps: FloatArray,
    visits: IntArray,
    tops: FloatArray,
    best: BoolArray,
    width: float,
    margin: float,
) -> FloatArray:
    """Return the chances of `believed_arms` over its noise, (n, k)."""
    n, m = gaps.shape
    odds = np.zeros((n, best.shape[2]))
    believable = np.empty(m)
    for u in range(n):
        row = u if len(tops) > 1 else 0
        mark_believable(gaps[u], visits[u], tops[row], width, margin, believable)
        share = 1.0 / believable.sum()
        for s in range(m):
            if believable[s] == 1.0:
                spread(best[row, s], True, share, odds[u])
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
