"""lobUCB: upper confidence bounds on the arms that a feasible order can put on top."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, positive, read_only, whole
from lobandits.basics.kernel import Plain, kernel, lean, part
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies.choices import all_allowed
from lobandits.policies.explanation import Details
from lobandits.policies.order_policy import OrderPolicy
from lobandits.policies.state import State, array, empty_state

Bits = NDArray[np.uint64]


class StateSets(NamedTuple):
    """Orders as sets of states, 64 to a word; u = 1 where all users share them."""

    above: Bits  # (u, k, k, words): the states in which arm a stands above arm b
    top: Bits  # (u, k, words): the states in which arm a is maximal
    all: Bits  # (words,): all states


class LastRefresh(NamedTuple):
    """What `LobUCBState` keeps of it, as the kernel reads and writes it."""

    infeasible: IntArray
    feasible: Bits
    refreshed: IntArray
    known: IntArray


@dataclass(eq=False, repr=False)
class LobUCBState(State):
    """Rewards, and the feasible states since the last refresh.

    Attributes
    ----------
    infeasible : int64 (n_users,)
        How many refreshes found no feasible state: the orders do not fit this user.
    feasible : uint64 (n_users, words)
        S_t at the last refresh as bits, 64 states to a word; none if no state was feasible.
    refreshed, known : int64 (n_users,)
        Plays at the last refresh, -1 before the first; a hash of its orders and sigma.
    """

    infeasible: IntArray = field(metadata=array("sum", ages="keep"))
    feasible: Bits = field(metadata=array("memory", "words", dtype=np.uint64))
    refreshed: IntArray = field(metadata=array("memory", empty=-1, ages="reset"))
    known: IntArray = field(metadata=array("memory", ages="renew"))


@dataclass(frozen=True)
class LobUCB(OrderPolicy[LobUCBState]):
    r"""Play argmax of :math:`U_a = \hat\mu_a + B_a` over the arms in :math:`A_t` (Algorithm 1).

    .. math:: B_a = \sigma \sqrt{4 \log t / N_a}, \quad A_t = \cup_{s \in S_t} \mathrm{Max}(s),
        \quad S_t = \{s : H_s \cap \prod_a [\hat\mu_a - B_a, \hat\mu_a + B_a] \neq \emptyset\}

    A state is feasible unless it puts some arm a above some b, directly or not, with
    :math:`L_b > U_a`. If none is feasible, the arms on top of any state are active, and the
    user's state counts it: the orders do not fit. Where only some arms are allowed, Max(s) is among
    these; which states are feasible depends on the rewards of all arms.

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

    def new_state(self, n_users: int) -> LobUCBState:
        """Return an empty state."""
        return empty_state(LobUCBState, n_users, arms=self.n_arms, words=len(self._sets.all))

    def restore(self, data: Mapping[str, ArrayLike]) -> LobUCBState:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        state.refreshed[state.known != self._keys] = -1
        state.feasible[state.refreshed < 0] = 0
        if (state.feasible & ~self._sets.all).any():
            raise LobInputError(f"feasible must be sets of the {self.orders.n_states} states")
        if ((state.refreshed < -1) | (state.refreshed > state.plays)).any():
            raise LobInputError("refreshed must lie between -1 and the plays recorded")
        return state

    @cached_property
    def _sets(self) -> StateSets:
        maximal = self.orders.tables.maximal
        if isinstance(self.orders, UserOrders):  # some users at a time: closures are large
            parts = [slice(u, u + 1024) for u in range(0, len(maximal), 1024)]
            above = np.concatenate([_packed_closures(self.orders.take(part)) for part in parts])
        else:
            above = _packed_closures(self.orders)
        return StateSets(
            above=read_only(above),
            top=_pack(maximal.transpose(0, 2, 1)),
            all=_pack(np.ones(maximal.shape[1], np.bool_)),
        )

    @cached_property
    def _plain_sets(self) -> Plain:
        return tuple(self._sets)

    @cached_property
    def _width(self) -> float:
        return self.radius * self.sigma**2

    def odds(self, state: LobUCBState, allowed: BoolArray) -> FloatArray:
        """Return 1 for the active arms of the largest upper bound, 0 for the others."""
        last = state.infeasible, state.feasible, state.refreshed, state.known
        pace, width = self.refresh_every, self._width
        odds = np.empty(state.counts.shape)
        mark_largest_bounds(
            *state.effective, last, allowed, self._plain_sets, self._keys, pace, width, odds
        )
        return odds

    def details(self, state: LobUCBState, allowed: BoolArray) -> Details:
        """Return the bounds and the active arms, and which states are feasible."""
        self.odds(state, allowed)
        low, up = np.empty(self.n_arms), np.empty(self.n_arms)
        counts, sums = state.effective
        bounds(counts[0], sums[0], self._width, low, up)
        active = np.empty(self.n_arms, np.bool_)
        mark_active(state.feasible[0], allowed[0], self._sets, 0, active)
        precedes = self.orders.precedes.reshape(-1, self.n_arms, self.n_arms)
        broken = (precedes & (low > up[:, None])).any(axis=(1, 2))
        never = int(state.infeasible[0])
        notes = [f"refreshes without a feasible state: {never}; the orders do not fit this user"]
        return Details(
            arms={"lower": low, "upper": up, "active": active},
            states={"feasible": np.logical_not(broken)},
            notes=notes if never else [],
        )


def _packed_closures(orders: LatentOrders | UserOrders) -> Bits:
    """Return, for each user and two arms, the states in which the first is above the second."""
    k = orders.n_arms
    return _pack(orders.precedes.reshape(-1, orders.n_states, k, k).transpose(0, 2, 3, 1))


def _pack(sets: NDArray[Any]) -> Bits:
    """Pack the last axis of booleans into 64-bit words."""
    packed = np.packbits(sets, axis=-1, bitorder="little")
    n_bytes = packed.shape[-1]
    words = np.zeros((*packed.shape[:-1], n_bytes + -n_bytes % 8), np.uint8)
    words[..., :n_bytes] = packed
    return read_only(words.view(np.uint64))


@lean
def bounds(
    counts: IntArray, sums: FloatArray, width: float, low: FloatArray, up: FloatArray
) -> int:
    """Write mean -+ sqrt(width log t / N) for every arm; return the plays t - 1."""
    plays = 0
    for a in range(len(counts)):
        plays += counts[a]
    scale = width * np.log(plays + 1.0)
    for a in range(len(counts)):
        if counts[a] == 0:
            low[a], up[a] = -np.inf, np.inf
        else:
            mean, reach = sums[a] / counts[a], np.sqrt(scale / counts[a])
            low[a], up[a] = mean - reach, mean + reach
    return plays


@part
def find_feasible(
    low: FloatArray, up: FloatArray, sets: StateSets, row: int, feasible: Bits
) -> bool:
    """Write the set of feasible states; tell whether there is any.

    Each pair with L_b > U_a rules out the states that put a above b. Cost O(k^2), as 64 states go
    to a step.
    """
    k, words = sets.top.shape[1:]
    highest = -np.inf
    for a in range(k):
        highest = max(highest, low[a])
    for i in range(words):
        feasible[i] = sets.all[i]
    for a in range(k):
        if up[a] < highest:
            for b in range(k):
                if low[b] > up[a]:
                    for i in range(words):
                        feasible[i] &= ~sets.above[row, a, b, i]
    some = False
    for i in range(words):
        some |= feasible[i] != 0
    return some


@part
def mark_active(
    feasible: Bits, allowed: BoolArray, sets: StateSets, row: int, out: BoolArray
) -> None:
    """Mark the allowed arms on top of a feasible state, of any state if none is feasible.

    An arm is on top where no allowed arm is above it. O(k), or O(k^2) if some are not allowed.
    """
    k, words = sets.top.shape[1:]
    everything, some = all_allowed(allowed), False
    for i in range(words):
        some |= feasible[i] != 0
    for a in range(k):
        found = False
        for i in range(words):
            states = feasible[i] if some else sets.all[i]
            if everything:
                states &= sets.top[row, a, i]
            else:
                for b in range(k):
                    if allowed[b]:
                        states &= ~sets.above[row, b, a, i]
            found |= states != 0
        out[a] = found and allowed[a]


@kernel
def mark_largest_bounds(
    counts: IntArray,
    sums: FloatArray,
    plain_last: Plain,
    allowed: BoolArray,
    plain_sets: Plain,
    keys: IntArray,
    refresh_every: int,
    width: float,
    odds: FloatArray,
) -> None:
    """Write 1 where an active arm has its user's largest upper bound, else 0; refresh where due.

    Cost O(n k^2), as 64 states go to a step.
    """
    n, k = counts.shape
    low, active = np.empty(k), np.empty(k, np.bool_)
    last, sets = LastRefresh(*plain_last), StateSets(*plain_sets)
    for u in range(n):
        up = odds[u]
        row = u if len(keys) > 1 else 0
        plays = bounds(counts[u], sums[u], width, low, up)
        before = last.refreshed[u] if last.known[u] == keys[row] else -1
        if before < 0 or plays - before >= refresh_every:
            if not find_feasible(low, up, sets, row, last.feasible[u]):
                last.infeasible[u] += 1
            last.refreshed[u] = plays
            last.known[u] = keys[row]
        mark_active(last.feasible[u], allowed[u if len(allowed) > 1 else 0], sets, row, active)
        best = -np.inf
        for a in range(k):
            up[a] = up[a] if active[a] else -np.inf
            best = max(best, up[a])
        for a in range(k):
            up[a] = 1.0 if active[a] and up[a] == best else 0.0
