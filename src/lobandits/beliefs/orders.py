r"""What orders make of a user's rewards: the loss of the best means that have an arm on top.

.. math:: L(a) = \min_{s : a \in \mathrm{Max}(s)} \; \min_{\mu \in H_s \cap M_a}
          \sum_b N_b (\mu_b - \hat\mu_b)^2 - 2 \sigma^2 \log p(s)

for counts N and means of rewards; in M_a no arm is above a. Where only some arms are allowed,
Max(s) is among these, and M_a puts a above these alone: where one arm is maximal among them, that
binds nothing, and the loss is the state's own; else these relations are added to the order.

Losses that exceed the least by more than a reach may be inf: nobody looks at them, and a total
order's projection ends as soon as it costs more.
"""

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.basics.kernel import kernel
from lobandits.beliefs.loss_bounds import Sequences, bounded_losses, bounds_of
from lobandits.beliefs.tops import list_tops
from lobandits.orders import DAG, TOTAL, LatentOrders, OrderTables, UserOrders
from lobandits.projection import projection_losses
from lobandits.projection.kernels import fit_one, losses_of_roots, losses_of_tops
from lobandits.projection.mincut import split_dag
from lobandits.projection.scratch import Scratch, make_scratch
from lobandits.projection.total import order_loss
from lobandits.statistics import State


def arm_losses(
    state: State, t: OrderTables, allowed: BoolArray, penalty: FloatArray, reach: FloatArray
) -> FloatArray:
    """Return L(a) of every user's arms, (n_users, n_arms); inf where no state has a on top.

    ``penalty``, (m,), is - 2 sigma^2 log p(s), up to a constant; ``reach``, (n_users,), how far
    above the least losses matter; below 0, all losses of the user stay inf.
    """
    counts, sums = state.counts.astype(np.float64), state.sums
    losses, stack = np.full(counts.shape, np.inf), np.empty((3, counts.shape[1] + 1))
    if not (t.kind == TOTAL).all():
        means = np.divide(sums, counts, out=np.zeros(counts.shape), where=counts > 0)
        scratch = make_scratch(counts.shape[1])
        partial_losses(means, counts, t, allowed, penalty, reach, losses, scratch)
        return losses
    bounds = bounds_of(state, t.sequence) if allowed.all() else None
    if bounds is None:
        total_losses(counts, sums, t.sequence, allowed, penalty, reach, losses, stack)
    else:
        bounded_losses(counts, sums, penalty, reach, bounds, losses, stack)
    return losses


def state_losses(orders: LatentOrders | UserOrders, state: State) -> FloatArray:
    """Return the loss of every state with any arm on top, (n_users, n_states)."""
    losses = projection_losses(np.nan_to_num(state.means), state.counts, orders)
    least: FloatArray = losses.min(axis=2)
    return least


@kernel
def total_losses(
    counts: FloatArray,
    sums: FloatArray,
    sequence: Sequences,
    allowed: BoolArray,
    penalty: FloatArray,
    reach: FloatArray,
    losses: FloatArray,
    stack: FloatArray,
) -> None:
    """Write L(a) under total orders, where the first allowed arm is on top. O(n m k)."""
    for u in range(len(counts)):
        if reach[u] < 0.0:
            continue
        row, among = u if len(sequence) > 1 else 0, allowed[u if len(allowed) > 1 else 0]
        least = np.inf
        for s in range(sequence.shape[1]):
            if penalty[s] == np.inf:  # a state that nobody is in
                continue
            j = 0
            while not among[sequence[row, s, j]]:
                j += 1
            a = sequence[row, s, j]
            limit = min(losses[u, a], least + reach[u]) - penalty[s]
            if limit >= 0.0:
                loss = order_loss(sums[u], counts[u], sequence[row, s], limit, stack)
                losses[u, a] = min(losses[u, a], loss + penalty[s])
                least = min(least, losses[u, a])


@kernel
def partial_losses(
    means: FloatArray,
    counts: FloatArray,
    t: OrderTables,
    allowed: BoolArray,
    penalty: FloatArray,
    reach: FloatArray,
    losses: FloatArray,
    scratch: Scratch,
) -> None:
    """Write L(a) under any orders. O(n m k) for chains."""
    k = means.shape[1]
    fit, of_state, tops = np.empty(k), np.empty(k), np.empty(k, np.int64)
    above = np.empty((k, k), np.bool_)
    for u in range(len(means)):
        if reach[u] < 0.0:
            continue
        row, among = u if len(t.kind) > 1 else 0, allowed[u if len(allowed) > 1 else 0]
        for s in range(t.kind.shape[1]):
            of_state[:] = np.inf
            n = list_tops(t, row, s, among, tops)
            if among.all() and t.kind[row, s] != DAG:
                losses_of_roots(means[u], counts[u], t, row, s, of_state, scratch)
            elif among.all():
                losses_of_tops(means[u], counts[u], t, row, s, of_state, fit, scratch)
            elif n == 1:
                of_state[tops[0]] = fit_one(means[u], counts[u], t, row, s, -1, fit, scratch)
            else:
                for j in range(n):
                    add_top(t, row, s, tops[j], among, above)
                    of_state[tops[j]] = split_dag(means[u], counts[u], above, -1, fit, scratch)
            for j in range(n):
                a = tops[j]
                losses[u, a] = min(losses[u, a], of_state[a] + penalty[s])


@kernel
def add_top(
    t: OrderTables, row: int, state: int, top: int, allowed: BoolArray, out: BoolArray
) -> None:
    """Write the closure of a state's order with ``top`` above all allowed arms. O(k^2).

    Only what is at or above ``top`` gains relations: to all that is at or below an allowed arm.
    """
    k = len(allowed)
    for b in range(k):
        for a in range(k):
            out[a, b] = t.kind[row, state] == DAG and t.above[row, state, a, b]
        if t.kind[row, state] != DAG:
            a = t.parent[row, state, b]
            while a >= 0:
                out[a, b] = True
                a = t.parent[row, state, a]
    for y in range(k):
        under = allowed[y] and y != top
        for b in range(k):
            under |= allowed[b] and b != top and out[b, y]
        if under:
            for x in range(k):
                out[x, y] |= x == top or out[x, top]
