"""lobUCB: upper confidence bounds on the arms that a feasible order can put on top."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits._checks import FloatArray, IntArray, positive, read_only, whole
from lobandits._jit import kernel, lean
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies.base import Details
from lobandits.policies.families import OneKernelPolicy, OrderPolicy, pick, spread
from lobandits.policies.state import State, array

Bits = NDArray[np.uint64]


class FeasibilityTables(NamedTuple):
    """Orders as sets of states, 64 to a word; u = 1 where all users share them."""

    above: Bits  # (u, k, k, words): the states in which arm a stands above arm b
    top: Bits  # (u, k, words): the states in which arm a is maximal
    all: Bits  # (words,): all states


@dataclass(eq=False, repr=False)
class LobUCBState(State):
    """Rewards, and the active arms since the last refresh.

    Attributes
    ----------
    infeasible : int64 (n_users,)
        How many refreshes found no feasible state: the orders do not fit this user.
    active : uint8 (n_users, n_arms)
        1 for the arms in A_t.
    refreshed, known : int64 (n_users,)
        Plays at the last refresh, -1 before the first; a hash of its orders and sigma.
    """

    infeasible: IntArray = field(metadata=array("sum"))
    active: NDArray[np.uint8] = field(metadata=array("memory", "arms", dtype=np.uint8))
    refreshed: IntArray = field(metadata=array("memory", empty=-1))
    known: IntArray = field(metadata=array("memory"))


@dataclass(frozen=True, eq=False, repr=False)
class LobUCB(OneKernelPolicy, OrderPolicy):
    r"""Play argmax of :math:`U_a = \hat\mu_a + B_a` over the arms in :math:`A_t` (Algorithm 1).

    .. math:: B_a = \sigma \sqrt{4 \log t / N_a}, \quad A_t = \cup_{s \in S_t} \mathrm{Max}(s),
        \quad S_t = \{s : H_s \cap \prod_a [\hat\mu_a - B_a, \hat\mu_a + B_a] \neq \emptyset\}

    A state is feasible unless it puts some arm a above some b, directly or not, with
    :math:`L_b > U_a`. If none is feasible, the arms on top of any state are active, and the
    user's state counts it: the orders do not fit.

    Parameters
    ----------
    orders, sigma
        As in `LobTS`.
    refresh_every
        Plays between two refreshes of the active arms.
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
    state_type = LobUCBState
    refresh_every: int = 1
    radius: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._fix(
            refresh_every=whole("refresh_every", self.refresh_every, most=2**62),
            radius=positive("radius", self.radius),
        )

    @property
    def counts_suffice(self) -> bool:
        """Whether every round refreshes the active arms."""
        return self.refresh_every == 1

    def restore(self, data: Mapping[str, ArrayLike]) -> State:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        assert isinstance(state, LobUCBState)
        state.refreshed[state.known != self._keys] = -1
        active = (state.active != 0) & (state.refreshed >= 0)[:, None]
        tops = np.atleast_2d(self.orders.tops)
        if (active & ~tops).any() or not active[state.refreshed >= 0].any(axis=1).all():
            raise LobInputError("active must name arms on top of some state, at least one")
        if ((state.refreshed < -1) | (state.refreshed > state.plays)).any():
            raise LobInputError("refreshed must lie between -1 and the plays recorded")
        return state

    @cached_property
    def _sets(self) -> FeasibilityTables:
        maximal = self.orders.tables.maximal
        if isinstance(self.orders, UserOrders):  # some users at a time: closures are large
            parts = [slice(u, u + 1024) for u in range(0, len(maximal), 1024)]
            above = np.concatenate([_packed_closures(self.orders.take(part)) for part in parts])
        else:
            above = _packed_closures(self.orders)
        return FeasibilityTables(
            above=read_only(above),
            top=_pack(maximal.transpose(0, 2, 1)),
            all=_pack(np.ones(maximal.shape[1], np.bool_)),
        )

    def details(self, state: State) -> Details:
        """Return the bounds and the active arms, and which states are feasible."""
        self.propensities(state)
        assert isinstance(state, LobUCBState)
        low, up = np.empty(self.n_arms), np.empty(self.n_arms)
        bounds(state.counts[0], state.sums[0], self.radius * self.sigma**2, low, up)
        precedes = self.orders.precedes.reshape(-1, self.n_arms, self.n_arms)
        broken = (precedes & (low > up[:, None])).any(axis=(1, 2))
        never = int(state.infeasible[0])
        notes = [f"refreshes without a feasible state: {never}; the orders do not fit this user"]
        return Details(
            arms={"lower": low, "upper": up, "active": state.active[0].astype(np.bool_)},
            states={"feasible": np.logical_not(broken)},
            notes=notes if never else [],
        )

    def _play(self, state: State, noise: FloatArray, odds: FloatArray) -> IntArray:
        assert isinstance(state, LobUCBState)
        return play(
            state.counts,
            state.sums,
            state.infeasible,
            state.active,
            state.refreshed,
            state.known,
            self._keys,
            self._sets,
            self.refresh_every,
            self.radius * self.sigma**2,
            noise,
            odds,
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


@lean
def find_active(
    low: FloatArray,
    up: FloatArray,
    sets: FeasibilityTables,
    row: int,
    feasible: Bits,
    active: NDArray[np.uint8],
) -> bool:
    """Mark the arms on top of a feasible state; tell whether there is such a state.

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
    for a in range(k):
        active[a] = 0
        for i in range(words):
            if sets.top[row, a, i] & (feasible[i] if some else sets.all[i]):
                active[a] = 1
    return some


@kernel
def play(
    counts: IntArray,
    sums: FloatArray,
    infeasible: IntArray,
    active: NDArray[np.uint8],
    refreshed: IntArray,
    known: IntArray,
    keys: IntArray,
    sets: FeasibilityTables,
    refresh_every: int,
    width: float,
    noise: FloatArray,
    odds: FloatArray,
) -> IntArray:
    """Refresh where due; return each user's arm or, without noise, write the odds of all arms."""
    n, k = counts.shape
    chosen = np.empty(len(noise), np.int64)
    low, up = np.empty(k), np.empty(k)
    feasible = np.empty(len(sets.all), np.uint64)
    for u in range(n):
        plays = bounds(counts[u], sums[u], width, low, up)
        row = u if len(keys) > 1 else 0
        if known[u] != keys[row] or refreshed[u] < 0 or plays - refreshed[u] >= refresh_every:
            if not find_active(low, up, sets, row, feasible, active[u]):
                infeasible[u] += 1
            refreshed[u] = plays
            known[u] = keys[row]
        best = -np.inf
        for a in range(k):
            if not active[u, a]:
                up[a] = -np.inf
            best = max(best, up[a])
        if len(noise):
            chosen[u], _ = pick(up, best, noise[u])
        else:
            spread(up, best, 1.0, odds[u])
    return chosen
