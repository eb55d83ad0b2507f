"""TopArmsUCB: UCB on the arms that can be on top, the paper's appendix on restricting arms."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, read_only
from lobandits.basics.kernel import kernel
from lobandits.orders import OrderTables
from lobandits.policies.choices import list_tops
from lobandits.policies.explanation import Details
from lobandits.policies.order_policy import OrderPolicy
from lobandits.policies.state import State
from lobandits.policies.ucb import largest_indices, upper_bounds


@dataclass(frozen=True)
class TopArmsUCB(OrderPolicy[State]):
    r"""Play argmax of :math:`\hat\mu_a + \sqrt{2 \sigma^2 \log t / N_a}` over the arms in A_0.

    These are :math:`A_0 = \cup_s \mathrm{Max}(s)`: an arm below another one in every state is never
    the best, so it is never played. Where only some arms are allowed, Max(s) is among these.

    Parameters
    ----------
    orders, sigma
        As in `LobTS`.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = TopArmsUCB(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> policy.probabilities(policy.start())
    array([[0.5, 0. , 0.5]])
    """

    name = "toparms"
    style = ("#cc79a7", "dashed", "P")

    @cached_property
    def _all_tops(self) -> BoolArray:
        """A_0 of all arms, (1 or n_users, n_arms)."""
        return read_only(np.atleast_2d(self.orders.tops))

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return 1 for the arms in A_0 of the largest index, 0 for the others."""
        tops = self._all_tops if allowed is self.all_arms else self._tops_among(allowed)
        return largest_indices(*state.effective, tops, 2 * self.sigma**2)

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the upper confidence bounds, and which arms are on top of some state."""
        tops = self._tops_among(allowed)
        upper = upper_bounds(state, tops, self.sigma)
        return Details(arms={"on top": tops[0], "upper": upper})

    def _tops_among(self, allowed: BoolArray) -> BoolArray:
        """Return the allowed arms that are on top of some state, (1 or n_users, n_arms)."""
        if allowed.all():
            return self._all_tops
        return tops_among(self.orders.tables, allowed)


@kernel
def tops_among(t: OrderTables, allowed: BoolArray) -> BoolArray:
    """Mark, for each choice set or user, the arms that are in Max(s) of some state s."""
    users, m, k = t.sequence.shape
    n = max(users, len(allowed))
    tops = np.zeros((n, k), np.bool_)
    found = np.empty(k, np.int64)
    for u in range(n):
        row, some = u if users > 1 else 0, allowed[u if len(allowed) > 1 else 0]
        arms = np.flatnonzero(some)
        for s in range(m):
            for j in range(list_tops(t, row, s, some, arms, found)):
                tops[u, found[j]] = True
    return tops
