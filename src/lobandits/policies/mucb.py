"""mUCB: optimism over the states that still explain their rewards, after Hong et al. (2020)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, not_negative, whole
from lobandits.beliefs.state_means import best_arms
from lobandits.errors import LobInputError
from lobandits.policies.explanation import Details
from lobandits.policies.means_policy import MeansPolicy
from lobandits.rules.choices import draw_weighted, pick
from lobandits.statistics import State, array, empty_state


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
        if (state.visits < 0).any():
            raise LobInputError("visits must not be negative")
        if ((state.beliefs < -1) | (state.beliefs >= self.n_states)).any():
            raise LobInputError(f"beliefs must be states from 0 to {self.n_states - 1}, or -1")
        return state

    def odds(self, state: MUCBState, allowed: BoolArray) -> FloatArray:
        """Return the chance that the believed state has each arm as its best allowed one."""
        best, top = self._best(allowed)
        return self._shared(self._believable(state, top), best)

    def decide(self, state: MUCBState, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Return a best allowed arm of the believed state, and remember the belief."""
        best, top = self._best(allowed)
        believed, left = draw_weighted(self._believable(state, top), noise)
        users = np.arange(state.n_users)
        chosen = pick(best[users if len(best) > 1 else 0, believed], left)
        state.beliefs[users, chosen] = believed
        return chosen

    def _bounds(self, state: MUCBState) -> FloatArray:
        """Return what the gap of each belief may be, (n_users, n_states)."""
        width = self.constant * self.sigma**2 * math.log(self.horizon)
        bounds: FloatArray = np.sqrt(width * state.visits) + self.margin * state.visits
        return bounds

    def _believable(self, state: MUCBState, top: FloatArray) -> FloatArray:
        """Return 1 for the states that may be believed, else 0, (n_users, n_states).

        The best by (best mean, visits) among the consistent ones; if there is none, by (distance of
        the gap below its bound, visits).
        """
        room = self._bounds(state) - state.gaps
        consistent = room >= 0.0
        some = consistent.any(axis=1, keepdims=True)
        value = np.where(some, np.where(consistent, top, -np.inf), room)
        best = value == value.max(axis=1, keepdims=True)
        visits = np.where(best, state.visits, -1)
        most: BoolArray = best & (visits == visits.max(axis=1, keepdims=True))
        return most.astype(np.float64)

    def absorb(
        self, state: MUCBState, users: IntArray, arms: IntArray, rewards: FloatArray
    ) -> None:
        """Add rewards to the arms, and to the beliefs that chose them."""
        super().absorb(state, users, arms, rewards)
        beliefs = state.beliefs[users, arms]
        known = np.flatnonzero(beliefs >= 0)
        users, arms, beliefs = users[known], arms[known], beliefs[known]
        means = self._tables[users if len(self._tables) > 1 else 0, beliefs, arms]
        np.add.at(state.gaps, (users, beliefs), means - rewards[known])
        np.add.at(state.visits, (users, beliefs), 1)

    def details(self, state: MUCBState, allowed: BoolArray) -> Details:
        """Return each state's gap, visits and bound, and whether it is consistent."""
        visits, gaps, bounds = state.visits[0], state.gaps[0], self._bounds(state)[0]
        best, (_, top) = self._best_names(allowed), best_arms(self._tables[:1], allowed[:1])
        columns = {
            "best arm": best,
            "best mean": top[0],
            "visits": visits,
            "gap": gaps,
            "bound": bounds,
            "consistent": gaps <= bounds,
        }
        notes = [] if (gaps <= bounds).any() else ["No state is consistent: the means are wrong."]
        return Details(states=columns, notes=notes)
