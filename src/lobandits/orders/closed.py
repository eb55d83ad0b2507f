"""ClosedOrders: what one order and the orders of all states share."""

from dataclasses import dataclass
from functools import cached_property

from lobandits._checks import BoolArray
from lobandits._frozen import Frozen
from lobandits.orders.closure import none_above
from lobandits.orders.tables import OrderTables, make_tables


@dataclass(frozen=True, init=False)
class ClosedOrders(Frozen):
    """Transitive closures: of one order (k, k), or one for each state (m, k, k)."""

    precedes: BoolArray
    arms: tuple[str, ...]

    @property
    def n_arms(self) -> int:
        """Number of arms, k."""
        return len(self.arms)

    @cached_property
    def is_total(self) -> bool:
        """Whether every pair of arms is ordered, in every state."""
        k, size = self.n_arms, self.precedes.size
        return int(self.precedes.sum()) == size // k * (k - 1) // 2

    @cached_property
    def maximal(self) -> BoolArray:
        """Which arms have none above them: Max(s), bool (k,), or (m, k) for m states."""
        return none_above(self.precedes)

    @cached_property
    def tables(self) -> OrderTables:
        """The orders as kernels read them, with a leading axis of one user."""
        return make_tables(self.precedes.reshape(1, -1, self.n_arms, self.n_arms))
