"""lobUCB: upper confidence bounds on the arms that a feasible order can put on top."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, positive, whole
from lobandits.beliefs.feasible import mark_feasible
from lobandits.beliefs.tops import tops_of
from lobandits.errors import LobInputError
from lobandits.policies.explanation import Details
from lobandits.policies.order_policy import OrderPolicy
from lobandits.rules.greedy import greedy
from lobandits.rules.optimism import confidence_bounds
from lobandits.statistics import State, array, empty_state


@dataclass(eq=False, repr=False)
class LobUCBState(State):
    """Rewards, and the feasible states at the last refresh.

    Attributes
    ----------
    infeasible : int64 (n_users,)
        How many refreshes had no feasible state: the orders do not fit this user.
    feasible : bool (n_users, n_states)
        S_t at the last refresh.
    refreshed : int64 (n_users,)
        Plays at the last refresh, -1 before the first.
    """

    infeasible: IntArray = field(metadata=array("sum"))
    feasible: BoolArray = field(metadata=array("memory", "states", dtype=np.bool_))
    refreshed: IntArray = field(metadata=array("memory", empty=-1))


@dataclass(frozen=True)
class LobUCB(OrderPolicy[State]):
    r"""Play argmax of :math:`U_a = \hat\mu_a + B_a` over the arms in :math:`A_t` (Algorithm 1).

    .. math:: B_a = \sigma \sqrt{4 \log t / N_a}, \quad A_t = \cup_{s \in S_t} \mathrm{Max}(s),
        \quad S_t = \{s : H_s \cap \prod_a [\hat\mu_a - B_a, \hat\mu_a + B_a] \neq \emptyset\}

    If no state is feasible, the arms on top of any state are active, and the user's state counts
    it: the orders do not fit. Where only some arms are allowed, Max(s) is among these; which
    states are feasible depends on the rewards of all arms.

    Parameters
    ----------
    orders, sigma
        As in `LobTS`.
    refresh_every
        Plays between two refreshes of the feasible states; with a half-life every play refreshes.
    radius
        The 4 under the root.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = LobUCB(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, arms=[2, 0] * 40, rewards=[5.0, 1.0] * 40, users=[0] * 80)
    >>> policy.probabilities(state)
    array([[0., 0., 1.]])
    """

    name = "lobucb"
    label = "lobUCB"
    style = ("#e69f00", "dashed", "D")
    state_type = LobUCBState
    refresh_every: int = 1
    radius: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            refresh_every=whole("refresh_every", self.refresh_every, most=2**62),
            radius=positive("radius", self.radius),
        )

    @property
    def counts_suffice(self) -> bool:
        """Whether every round refreshes the feasible states."""
        return self.refresh_every == 1

    def new_state(self, n_users: int) -> State:
        """Return an empty state."""
        return empty_state(LobUCBState, n_users, arms=self.n_arms, states=self.orders.n_states)

    def restore(self, data: Mapping[str, ArrayLike]) -> State:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        if isinstance(state, LobUCBState):
            if ((state.refreshed < -1) | (state.refreshed > state.plays)).any():
                raise LobInputError("refreshed must lie between -1 and the plays recorded")
            if (state.infeasible < 0).any():
                raise LobInputError("infeasible must not be negative")
        return state

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return 1 for the active arms of the largest upper bound, 0 for the others."""
        low, up = self._bounds(state)
        return greedy(up, self._active(self._feasible(state, low, up), allowed))

    def _bounds(self, state: State) -> tuple[FloatArray, FloatArray]:
        return confidence_bounds(state.counts, state.sums, self.radius * self.sigma**2)

    def _feasible(self, state: State, low: FloatArray, up: FloatArray) -> BoolArray:
        """Return S_t of every user, (n, m), refreshed where that is due; count where it is empty.

        What fades has no memory: every decision refreshes.
        """
        if not isinstance(state, LobUCBState):
            feasible = np.empty((state.n_users, self.orders.n_states), np.bool_)
            mark_feasible(low, up, self.orders.tables, np.ones(state.n_users, np.bool_), feasible)
            return feasible
        plays = state.plays
        due = (state.refreshed < 0) | (plays - state.refreshed >= self.refresh_every)
        mark_feasible(low, up, self.orders.tables, due, state.feasible)
        state.infeasible += due & ~state.feasible.any(axis=1)
        state.refreshed[due] = plays[due]
        return state.feasible

    def _active(self, feasible: BoolArray, allowed: BoolArray) -> BoolArray:
        """Return A_t: the allowed arms on top of a feasible state, of any if none is."""
        states = feasible | ~feasible.any(axis=1, keepdims=True)
        return tops_of(self.orders.tables, states, allowed)

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the bounds and the active arms, and which states are feasible."""
        low, up = self._bounds(state)
        feasible = self._feasible(state, low, up)
        active = self._active(feasible, allowed)[0]
        never = int(state.infeasible[0]) if isinstance(state, LobUCBState) else 0
        notes = [f"refreshes without a feasible state: {never}; the orders do not fit this user"]
        return Details(
            arms={"lower": low[0], "upper": up[0], "active": active},
            states={"feasible": feasible[0]},
            notes=notes if never else [],
        )
