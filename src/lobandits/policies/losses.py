"""The smallest projection loss with each arm on top.

    L(a) = min over states s with a in Max(s) of min over mu in H_s and M_a of
           sum_b N_b (mu_b - m_b)^2 - 2 sigma^2 log p(s)

for one user's plays N and means m; M_a has no arm above a. States are projected only if their
bounds (`loss_bounds`) leave it open whether they are the least.

Where only some arms are allowed, an arm is on top if it exceeds every *allowed* one. In a state
with one maximal allowed arm that binds nothing, so its loss is the state's own, with none on top;
else the states near enough are projected on the order with these relations added.

A draw by the likelihoods exp(-L(a) / (2 sigma^2)) needs still less: the arm at which a uniform
number falls is known as soon as their bounds leave no other, mostly without a projection.
"""

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import kernel, lean, part
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies.choices import all_allowed, mark_tops
from lobandits.policies.loss_bounds import (
    Losses,
    catch_up,
    lowest,
    project_among,
    project_item,
    read_user,
)
from lobandits.policies.state import State
from lobandits.projection import projection_losses

SLACK = 1e-9  # a bound may be wrong by rounding, relative to the losses and to sigma^2


def state_losses(orders: LatentOrders | UserOrders, state: State) -> FloatArray:
    """Return the loss of every state with no arm on top, (n_users, n_states)."""
    losses = projection_losses(np.nan_to_num(state.means), state.counts, orders)
    least: FloatArray = losses.min(axis=2)
    return least


def fit_of_states(
    orders: LatentOrders | UserOrders, state: State, sigma: float
) -> dict[str, FloatArray]:
    """Return, as columns, how well each state explains the rewards of the one user."""
    loss = state_losses(orders, state)[0]
    return {"loss": loss, "log-likelihood": (loss.min() - loss) / (2 * sigma**2)}


@kernel
def arm_losses(
    counts: IntArray, sums: FloatArray, allowed: BoolArray, losses: Losses, variance: float
) -> FloatArray:
    """Return L(a) of every user and arm, inf where no state can have it on top."""
    out = np.empty(counts.shape)
    for u in range(len(counts)):
        some = allowed[u if len(allowed) > 1 else 0]
        losses_on_top(counts, sums, u, some, losses, np.inf, variance, out[u])
    return out


@lean
def losses_on_top(
    counts: IntArray,
    sums: FloatArray,
    u: int,
    allowed: BoolArray,
    losses: Losses,
    reach: float,
    tolerance: float,
    out: FloatArray,
) -> float:
    """Write L(a), inf if no item has arm a on top or it exceeds the least by ``reach``.

    Return the least. Bring the bounds of user ``u`` up to date.
    """
    row, slot = read_user(counts, sums, u, losses)
    if all_allowed(allowed):
        return losses_by_arm(row, slot, losses, reach, tolerance, out)
    catch_up(counts, sums, u, 1, row, slot, losses)
    return losses_among(row, slot, allowed, losses, reach, tolerance, out)


@part
def losses_by_arm(
    row: int, slot: int, losses: Losses, reach: float, tolerance: float, out: FloatArray
) -> float:
    """Write L(a) where all arms are allowed, as `losses_on_top`."""
    items, b = losses.items, losses.bounds
    k = len(out)
    least = project_item(lowest(row, slot, 0, items.first[row, k], losses), row, slot, losses)
    for a in range(k):
        out[a] = np.inf
        lo, hi = items.first[row, a], items.first[row, a + 1]
        if lo == hi:
            continue
        first = lowest(row, slot, lo, hi, losses)
        if b.lower[slot, first] + items.penalty[items.state[row, first]] <= least + reach:
            out[a] = loss_of_arm(first, lo, hi, row, slot, losses, tolerance)
            least = min(least, out[a])
    return least


@part
def loss_of_arm(
    first: int, lo: int, hi: int, row: int, slot: int, losses: Losses, tolerance: float
) -> float:
    """Return L(a) of the arm whose items are ``lo`` to ``hi``.

    ``first``, the one with the lowest bound, is projected first, the others only if their bounds
    are lower than what is found.
    """
    items, b = losses.items, losses.bounds
    best = project_item(first, row, slot, losses)
    for i in range(lo, hi):
        bound = b.lower[slot, i] + items.penalty[items.state[row, i]]
        if best > 0.0 and bound < best + SLACK * (best + tolerance):
            best = min(best, project_item(i, row, slot, losses))
    return best


@lean
def losses_among(
    row: int,
    slot: int,
    allowed: BoolArray,
    losses: Losses,
    reach: float,
    tolerance: float,
    out: FloatArray,
) -> float:
    """Write L(a) where only some arms are allowed, as `losses_on_top`.

    A state's own loss is a bound of that with any arm on top. The state of the lowest bound comes
    first, others only if they can be within reach and better for one of their tops.
    """
    t, items, b, r = losses.tables, losses.items, losses.bounds, losses.memory
    m = t.kind.shape[1]
    out[:] = np.inf
    start, lowest_bound = 0, np.inf
    for s in range(m):
        bound = b.lower[slot, items.plain[row, s]] + items.penalty[s]
        if bound < lowest_bound:
            start, lowest_bound = s, bound
    least = np.inf
    for j in range(m):
        s = (start + j) % m
        i = items.plain[row, s]
        bound = b.lower[slot, i] + items.penalty[s]
        if bound == np.inf or bound > least + reach:
            continue
        tops = mark_tops(t, row, s, allowed, r.tops)
        if not improves(bound, tolerance, r.tops, out):
            continue
        loss = project_item(i, row, slot, losses)
        for a in range(len(out)):
            if r.tops[a] and loss < out[a]:
                if tops > 1:
                    on_top = project_among(row, s, a, allowed, losses) + items.penalty[s]
                    out[a] = min(out[a], on_top)
                else:
                    out[a] = loss
                least = min(least, out[a])
    return least


@lean
def improves(bound: float, tolerance: float, tops: BoolArray, out: FloatArray) -> bool:
    """Tell whether a loss of at least ``bound``, but for rounding, can be less for some top."""
    for a in range(len(out)):
        if tops[a] and (out[a] == np.inf or bound < out[a] + SLACK * (out[a] + tolerance)):
            return True
    return False


@lean
def draw_on_top(
    counts: IntArray, sums: FloatArray, u: int, losses: Losses, variance: float, uniform: float
) -> int:
    """Draw an arm by exp(-L(a) / (2 sigma^2)), by inverting the distribution function at a uniform.

    Invariant: every weight lies between ``least`` and ``most``. While these leave it open which
    arm is drawn, the arm of the widest range is projected. Return -1 if rounding might decide.
    """
    row, slot = read_user(counts, sums, u, losses)
    items, r = losses.items, losses.memory
    origin = bound_weights(row, slot, losses, variance)
    while True:
        arm = decided(r.least, r.most, uniform)
        if arm >= 0:
            return arm
        widest = 0
        for a in range(len(r.least)):
            if r.most[a] - r.least[a] > r.most[widest] - r.least[widest]:
                widest = a
        if r.most[widest] <= r.least[widest]:
            return -1
        lo, hi = items.first[row, widest], items.first[row, widest + 1]
        first = lowest(row, slot, lo, hi, losses)
        loss = loss_of_arm(first, lo, hi, row, slot, losses, variance)
        r.least[widest] = r.most[widest] = np.exp((origin - loss) / (2.0 * variance))


@lean
def bound_weights(row: int, slot: int, losses: Losses, variance: float) -> float:
    """Write the range of every arm's weight exp((origin - L(a)) / (2 sigma^2)); return the origin.

    It is the least upper bound of a loss; without any, the likeliest item is projected.
    """
    items, b, r = losses.items, losses.bounds, losses.memory
    k = len(r.least)
    origin = np.inf
    for a in range(k):
        r.least[a] = r.most[a] = np.inf  # of the loss, for now
        for i in range(items.first[row, a], items.first[row, a + 1]):
            penalty = items.penalty[items.state[row, i]]
            r.least[a] = min(r.least[a], b.lower[slot, i] + penalty)
            r.most[a] = min(r.most[a], b.upper[slot, i] + penalty)
        origin = min(origin, r.most[a])
    if origin == np.inf:
        origin = project_item(lowest(row, slot, 0, items.first[row, k], losses), row, slot, losses)
    for a in range(k):
        low, high = r.least[a], r.most[a]
        r.least[a] = np.exp((origin - high) / (2.0 * variance))
        r.most[a] = np.exp(min((origin - low) / (2.0 * variance), 700.0))
    return origin


@lean
def decided(least: FloatArray, most: FloatArray, uniform: float) -> int:
    """Return the arm that is drawn under all weights in range, -1 if that is open. O(k).

    Arm a is drawn if u (sum of all) lies from the sum before a to that up to a: two inequalities,
    linear in the weights, so that each is worst at an end of their ranges.
    """
    k = len(least)
    above_least = above_most = 0.0
    for a in range(k):
        above_least += least[a]
        above_most += most[a]
    slack = SLACK * above_most
    below_least = below_most = 0.0
    for a in range(k):
        above_most -= most[a]
        starts = uniform * above_least >= (1.0 - uniform) * below_most + slack
        below_least += least[a]
        below_most += most[a]
        above_least -= least[a]
        ends = uniform * max(above_most, 0.0) + slack <= (1.0 - uniform) * below_least
        if starts and ends and least[a] > 0.0:
            return a
    return -1
