"""The smallest projection loss with each arm on top.

    L(a) = min over states s with a in Max(s) of min over mu in H_s and M_a of
           sum_b N_b (mu_b - m_b)^2 - 2 sigma^2 log p(s)

for one user's plays N and means m; M_a has no arm above a. States are projected only if their
bounds (`loss_bounds`) leave it open whether they are the least.

Where only some arms are allowed, an arm is on top if it exceeds every *allowed* one. In a state
with one maximal allowed arm that binds nothing, so its loss is the state's own, with none on top;
else the states whose own losses are low enough are projected on the order with these relations
added.

A draw by the likelihoods exp(-L(a) / (2 sigma^2)) needs still less: the arm at which a uniform
number falls is known as soon as their bounds leave no other, mostly without a projection.
"""

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import ZERO, Plain, lean, part
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies.loss_bounds import (
    Losses,
    lower_bound,
    lowest,
    name_losses,
    project_among,
    project_item,
    read_user,
)
from lobandits.policies.loss_items import listed
from lobandits.policies.state import State
from lobandits.projection import projection_losses

SLACK = 1e-9  # a bound may be wrong by rounding, relative to the losses and to sigma^2
LIGHT = 50.0  # logs below the likeliest at which a weight is not looked at more closely than
LIGHTEST = float(np.exp(-LIGHT))  # this


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


def arm_losses(state: State, allowed: BoolArray, plain: Plain, variance: float) -> FloatArray:
    """Return L(a) of the first user's arms, inf where no state can have it on top."""
    out = np.empty(state.n_arms)
    write_arm_losses(state.counts, state.sums, allowed[0], plain, variance, out)
    return out


@lean
def write_arm_losses(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    plain: Plain,
    variance: float,
    out: FloatArray,
) -> None:
    """Write L(a) of the first user's arms."""
    losses_on_top(counts, sums, 0, allowed, name_losses(plain), np.inf, variance, out)


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

    Return the least. The arm of the lowest bound comes first, so that few others are in reach.
    """
    row, slot, _ = read_user(counts, sums, u, allowed, losses)
    k, least, told = len(out), np.inf, listed(losses.candidates)
    start = arm_of(lowest(row, slot, told.item, ZERO, told.first[k], losses), told.first)
    for step in range(start, start + k):
        a = step if step < k else step - k
        out[a] = loss_of_arm(a, least + reach, row, slot, allowed, losses, tolerance)
        least = min(least, out[a])
    return least


@part
def arm_of(candidate: int, first: IntArray) -> int:
    """Return the arm whose candidates include this one."""
    a = 0
    while first[a + 1] <= candidate:
        a += 1
    return a


@part
def loss_of_arm(
    a: int,
    limit: float,
    row: int,
    slot: int,
    allowed: BoolArray,
    losses: Losses,
    tolerance: float,
) -> float:
    """Return L(a), or inf if that exceeds ``limit``.

    The candidate with the lowest bound is projected first, others only if their bounds are lower
    than what is found.
    """
    items, told = losses.items, listed(losses.candidates)
    lo, hi = told.first[a], told.first[a + 1]
    start, best = lowest(row, slot, told.item, lo, hi, losses), np.inf
    for step in range(start, start + hi - lo):
        j = step if step < hi else step - (hi - lo)
        i = told.item[j]
        bound = lower_bound(i, row, slot, losses)
        if j == start and bound > limit:
            break
        if best > 0.0 and bound < best + SLACK * (best + tolerance):
            loss = project_item(i, row, slot, losses)
            if told.several[j] and loss < best:
                state = items.state[row, i]
                loss = project_among(row, state, a, allowed, losses) + items.penalty[state]
            best = min(best, loss)
    return best


@part
def draw_on_top(
    counts: IntArray,
    sums: FloatArray,
    u: int,
    allowed: BoolArray,
    losses: Losses,
    variance: float,
    uniform: float,
) -> int:
    """Draw an arm by exp(-L(a) / (2 sigma^2)), by inverting the distribution function at a uniform.

    Invariant: the weight of the n-th allowed arm lies between ``least[n]`` and ``most[n]``. While
    these leave it open which arm is drawn, the arm of the widest range is projected. Return -1 if
    rounding might decide.
    """
    row, slot, _ = read_user(counts, sums, u, allowed, losses)
    arms = listed(losses.candidates).arms
    n_arms = len(arms)
    least, most = losses.memory.least[:n_arms], losses.memory.most[:n_arms]
    origin = bound_weights(row, slot, losses, variance, least, most)
    while True:
        place = decided(least, most, uniform)
        if place >= 0:
            return int(arms[place])
        widest = 0
        for n in range(n_arms):
            if most[n] - least[n] > most[widest] - least[widest]:
                widest = n
        if most[widest] <= least[widest]:
            return -1
        loss = loss_of_arm(arms[widest], np.inf, row, slot, allowed, losses, variance)
        least[widest] = most[widest] = np.exp((origin - loss) / (2.0 * variance))


@part
def bound_weights(
    row: int, slot: int, losses: Losses, variance: float, least: FloatArray, most: FloatArray
) -> float:
    """Write the range of each allowed arm's weight exp((origin - L(a)) / (2 sigma^2)).

    Return the origin: the least upper bound of a loss; without any, the likeliest item is
    projected. Weights that are surely light have a range that needs no exponential.
    """
    items, b, told = losses.items, losses.bounds, listed(losses.candidates)
    origin = np.inf
    for n in range(least.shape[0]):
        low = high = np.inf  # of the loss
        for j in range(told.first[told.arms[n]], told.first[told.arms[n] + 1]):
            i = told.item[j]
            penalty = items.penalty[items.state[row, i]]
            low = min(low, b.lower[slot, i] + penalty)
            if not told.several[j]:
                high = min(high, b.upper[slot, i] + penalty)
        least[n], most[n] = low, high
        origin = min(origin, high)
    if origin == np.inf:
        all_arms = told.first[told.first.shape[0] - 1]
        likeliest = told.item[lowest(row, slot, told.item, ZERO, all_arms, losses)]
        origin = project_item(likeliest, row, slot, losses)
    for n in range(least.shape[0]):
        low = (least[n] - origin) / (2.0 * variance)
        high = (most[n] - origin) / (2.0 * variance)
        if low > LIGHT:
            least[n], most[n] = 0.0, LIGHTEST if low < np.inf else 0.0
        else:
            least[n], most[n] = np.exp(-high), np.exp(min(-low, 700.0))
    return origin


@lean
def decided(least: FloatArray, most: FloatArray, uniform: float) -> int:
    """Return the place that is drawn under all weights in range, -1 if that is open. O(arms).

    Place a is drawn if u (sum of all) lies from the sum before a to that up to a: two inequalities,
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
