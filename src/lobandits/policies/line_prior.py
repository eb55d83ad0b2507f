r"""A scale-free working prior for the means that keep an order, and its closed forms.

Under a hypothesis h, a state with one of its maximal arms on top, and a slope beta,

.. math:: \mu_a = \alpha_{c(a)} + \beta z_a + \rho \beta \varepsilon_a, \qquad
          \varepsilon_a \sim N(0, 1),

where c(a) is a's group of connected arms and z_a its position on a line,

.. math:: z_a = (|\{b : a \succ b\}| - |\{b : b \succ a\}|) / (2 s), \qquad s^2 = (k^2 - 1) / 12:

on a chain the centred rank over its standard deviation. One group has a flat alpha; several have
:math:`\alpha_c \sim N(\alpha, \beta^2)` with a flat alpha. The data are the projection f of the
averages on h, on the played arms, with the variances :math:`w_a = \rho^2 \beta^2 + \sigma^2 / N_a`.
So with the sums over a group's played arms

.. math:: S_0 = \sum 1 / w_a, \qquad S_1 = \sum (f_a - \beta z_a) / w_a,

alpha_c is Gaussian, and so is the evidence of f. Everything is in the user's units: 0 is the lowest
average, 1 the range of the averages plus sigma.
"""

from typing import NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import lean
from lobandits.orders import DAG, TOTAL, OrderTables

RHO = 0.3
N_SLOPES, STEEPEST, RATIO = 10, 4.0, 1.6  # beta is STEEPEST / RATIO^j
LEAST_VARIANCE = 1e-30
TIE = 1e-9  # of average positions
LOGS_AT_ONCE = 16  # variances lie between 1e-4 and 3, so a product of 16 is a fine number


class LineMemory(NamedTuple):
    """Working memory for one user: b slopes, k arms or groups."""

    group: IntArray  # (k,)
    below: IntArray  # (k,): room
    slopes: FloatArray  # (b,): beta
    squares: FloatArray  # (b,): rho^2 beta^2
    scatter: FloatArray  # (b,): the sum of log w_a
    whole: FloatArray  # (b,): the sum of 1 / w_a
    product: FloatArray  # (b,): room
    single: FloatArray  # (b,): scatter plus log S_0, where all arms are one group
    s2: FloatArray  # (b,): the sum of (f_a - beta z_a)^2 / w_a
    precision: FloatArray  # (k, b): 1 / w_a, 0 for an arm never played
    rest: FloatArray  # (k, b): 1 - lambda_a, lambda_a = rho^2 beta^2 / w_a; 1 if never played
    s0: FloatArray  # (k, b), by group
    s1: FloatArray  # (k, b), by group
    fit: FloatArray  # (k,): f, 0 for an arm never played
    z: FloatArray  # (k,)
    alpha: FloatArray  # (k,), by group: its mean
    spread: FloatArray  # (k,), by group: its variance


def make_line_memory(k: int) -> LineMemory:
    """Allocate the working memory for ``k`` arms."""
    slopes = STEEPEST * RATIO ** -np.arange(N_SLOPES, dtype=np.float64)
    by_slope = [np.empty(N_SLOPES) for _ in range(5)]
    by_both = [np.empty((k, N_SLOPES)) for _ in range(4)]
    by_arm = [np.empty(k) for _ in range(4)]
    group, below = np.empty(k, np.int64), np.empty(k, np.int64)
    squares = (RHO * slopes) ** 2
    return LineMemory(group, below, slopes, squares, *by_slope, *by_both, *by_arm)


@lean
def place_arms(
    t: OrderTables, row: int, state: int, z: FloatArray, group: IntArray, below: IntArray
) -> int:
    """Write the positions and the groups of connected arms, 0, 1, ...; return how many groups.

    ``below`` is room. O(k), for a DAG O(k^2) and some relabelling.
    """
    k = z.shape[0]
    unit = 0.5 / np.sqrt((k * k - 1.0) / 12.0) if k > 1 else 0.0
    if t.kind[row, state] == TOTAL:
        for j in range(k):
            arm = t.sequence[row, state, j]
            z[arm] = unit * (k - 1 - 2 * j)
            group[arm] = 0
        return 1
    if t.kind[row, state] == DAG:
        return place_dag(t.above[row, state], unit, z, group, below)
    return place_forest(t, row, state, unit, z, group, below)


@lean
def place_forest(
    t: OrderTables,
    row: int,
    state: int,
    unit: float,
    z: FloatArray,
    group: IntArray,
    below: IntArray,
) -> int:
    """Place trees: an arm has its depth above it, and the rest of its subtree below."""
    k = z.shape[0]
    n_groups = 0
    for j in range(k):
        arm = t.sequence[row, state, j]
        upper = t.parent[row, state, arm]
        below[arm] = 0
        if upper < 0:
            z[arm] = 0.0
            group[arm] = n_groups
            n_groups += 1
        else:
            z[arm] = z[upper] - 1.0
            group[arm] = group[upper]
    for j in range(k - 1, -1, -1):
        arm = t.sequence[row, state, j]
        upper = t.parent[row, state, arm]
        if upper >= 0:
            below[upper] += below[arm] + 1
        z[arm] = unit * (z[arm] + below[arm])
    return n_groups


@lean
def place_dag(above: BoolArray, unit: float, z: FloatArray, group: IntArray, name: IntArray) -> int:
    """Place any order from its closure.

    Invariant: of the arms done, those with one group are connected; a new arm starts its own and
    joins it with all that it is related to.
    """
    k = z.shape[0]
    for a in range(k):
        z[a] = 0.0
        group[a] = a
        for b in range(k):
            z[a] += unit * (above[a, b] * 1.0 - above[b, a] * 1.0)
        for b in range(a):
            if (above[a, b] or above[b, a]) and group[b] != group[a]:
                old = group[b]
                for c in range(a):
                    if group[c] == old:
                        group[c] = group[a]
    n_groups = 0
    name[:] = -1
    for a in range(k):
        if name[group[a]] < 0:
            name[group[a]] = n_groups
            n_groups += 1
        group[a] = name[group[a]]
    return n_groups


@lean
def best_positions(
    t: OrderTables,
    row: int,
    log_shares: FloatArray,
    allowed: BoolArray,
    w: LineMemory,
    out: FloatArray,
) -> None:
    """Write 1 for the allowed arms with the best position on average over the states, else 0."""
    k = out.shape[0]
    out[:] = 0.0
    total = 0.0
    for state in range(t.kind.shape[1]):
        share = np.exp(log_shares[state])
        total += share
        place_arms(t, row, state, w.z, w.group, w.below)
        for a in range(k):
            out[a] += share * w.z[a]
    best = -np.inf
    for a in range(k):
        if allowed[a]:
            best = max(best, out[a])
    for a in range(k):
        out[a] = 1.0 if allowed[a] and out[a] >= best - TIE * total else 0.0


@lean
def set_variances(plays: FloatArray, noise: float, w: LineMemory) -> None:
    """Write what depends on plays and slopes alone; ``noise`` is sigma^2. O(k b)."""
    w.scatter[:] = 0.0
    w.whole[:] = 0.0
    w.product[:] = 1.0
    factors = 0
    for a in range(plays.shape[0]):
        own = noise / plays[a] if plays[a] > 0.0 else 0.0
        factors += own > 0.0
        for b in range(N_SLOPES):
            inverse = 1.0 / (w.squares[b] + own) if own > 0.0 else 0.0
            w.precision[a, b] = inverse
            w.rest[a, b] = own * inverse if own > 0.0 else 1.0
            w.whole[b] += inverse
            w.product[b] *= inverse if own > 0.0 else 1.0
        if factors == LOGS_AT_ONCE or a == plays.shape[0] - 1:
            factors = 0
            for b in range(N_SLOPES):
                w.scatter[b] -= np.log(w.product[b])
            w.product[:] = 1.0
    for b in range(N_SLOPES):
        w.single[b] = w.scatter[b] + np.log(w.whole[b])


@lean
def sum_groups(plays: FloatArray, n_groups: int, w: LineMemory) -> None:
    """Write S_0, S_1 and S_2 for every slope from ``w.fit``, ``w.z`` and ``w.group``. O(k b)."""
    w.s0[:n_groups] = 0.0
    w.s1[:n_groups] = 0.0
    w.s2[:] = 0.0
    for a in range(plays.shape[0]):
        if plays[a] > 0.0:
            c = w.group[a]
            add_arm(w.fit[a], w.z[a], w.slopes, w.precision[a], w.s1[c], w.s2)
            if n_groups > 1:
                for b in range(N_SLOPES):
                    w.s0[c, b] += w.precision[a, b]
    if n_groups == 1:
        for b in range(N_SLOPES):
            w.s0[0, b] = w.whole[b]


@lean
def recall_sums(s1: FloatArray, w: LineMemory) -> None:
    """Write S_0 and S_1 again, where all arms are one group."""
    for b in range(N_SLOPES):
        w.s0[0, b] = w.whole[b]
        w.s1[0, b] = s1[b]


@lean
def add_arm(
    fit: float, z: float, slopes: FloatArray, precision: FloatArray, s1: FloatArray, s2: FloatArray
) -> None:
    """Add one arm's part to S_1 and S_2 of all slopes."""
    for b in range(N_SLOPES):
        residual = fit - slopes[b] * z
        weighted = precision[b] * residual
        s1[b] += weighted
        s2[b] += weighted * residual


@lean
def log_evidence(n_groups: int, w: LineMemory, out: FloatArray) -> float:
    """Write the fit's log-evidence for every slope, up to a constant; return the best. O(groups b).

    With u_c = 1 / (beta^2 + 1 / S_0), the groups' own estimates S_1 / S_0 are N(alpha, 1 / u_c).
    """
    best = -np.inf
    for b in range(N_SLOPES):
        if n_groups == 1:
            lack = w.single[b] + w.s2[b] - w.s1[0, b] * w.s1[0, b] / w.s0[0, b]
        else:
            square = w.slopes[b] * w.slopes[b]
            lack = w.scatter[b] + w.s2[b]
            u0 = u1 = u2 = 0.0
            for c in range(n_groups):
                if w.s0[c, b] > 0.0:
                    estimate = w.s1[c, b] / w.s0[c, b]
                    factor = 1.0 + square * w.s0[c, b]
                    u = w.s0[c, b] / factor
                    lack += np.log(factor) - w.s1[c, b] * estimate
                    u0 += u
                    u1 += u * estimate
                    u2 += u * estimate * estimate
            lack += np.log(u0) + u2 - u1 * u1 / u0
        out[b] = -0.5 * lack
        best = max(best, out[b])
    return best


@lean
def posterior_of_groups(n_groups: int, b: int, w: LineMemory) -> None:
    """Write the mean and the variance of each group's alpha at slope b."""
    if n_groups == 1:
        w.alpha[0] = w.s1[0, b] / w.s0[0, b]
        w.spread[0] = 1.0 / w.s0[0, b]
        return
    square = w.slopes[b] * w.slopes[b]
    u0 = u1 = 0.0
    for c in range(n_groups):
        factor = 1.0 + square * w.s0[c, b]
        u0 += w.s0[c, b] / factor
        u1 += w.s1[c, b] / factor
    for c in range(n_groups):
        free = 1.0 / (1.0 + square * w.s0[c, b])
        w.alpha[c] = free * (u1 / u0 + square * w.s1[c, b])
        w.spread[c] = free * square + free * free / u0


@lean
def shrink(b: int, w: LineMemory, mean: FloatArray, variance: FloatArray) -> None:
    """Write the means and variances of the arms at slope b: the fit, shrunk to the line."""
    for a in range(mean.shape[0]):
        line = w.alpha[w.group[a]] + w.slopes[b] * w.z[a]
        rest = w.rest[a, b]
        mean[a] = w.fit[a] + rest * (line - w.fit[a])
        own = rest * w.squares[b] + rest * rest * w.spread[w.group[a]]
        variance[a] = max(own, LEAST_VARIANCE)
