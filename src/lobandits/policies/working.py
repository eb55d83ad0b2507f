r"""A scale-free working prior for the means that keep an order, and its closed forms.

Under a hypothesis h, a state with one of its maximal arms on top, and a slope beta,

.. math:: \mu_a = \alpha_{c(a)} + \beta z_a + \rho \beta \varepsilon_a, \qquad
          \varepsilon_a \sim N(0, 1),

where z are the positions of :mod:`lobandits.policies.positions` and c(a) is a's group of connected
arms. One group has a flat alpha; several have :math:`\alpha_c \sim N(\alpha, \beta^2)` with a flat
alpha. The data are the projection f of the averages on h, on the played arms, with the variances
:math:`w_a = \rho^2 \beta^2 + \sigma^2 / N_a`. So with the sums over a group's played arms

.. math:: S_0 = \sum 1 / w_a, \qquad S_1 = \sum (f_a - \beta z_a) / w_a,

alpha_c is Gaussian, and so is the evidence of f.

Everything is in the user's units: 0 is the lowest average, 1 the range of the averages plus sigma.
"""

from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import lean

RHO = 0.3
N_SLOPES = 10
STEEPEST = 4.0
RATIO = 1.6
LEAST_VARIANCE = 1e-30
LOGS_AT_ONCE = 16  # variances lie between 1e-4 and 3, so a product of 16 is a fine number


class Working(NamedTuple):
    """Working memory for one user: b slopes, k arms or groups."""

    squares: FloatArray  # (b,): rho^2 beta^2
    slopes: FloatArray  # (b,): beta
    precision: FloatArray  # (k, b): 1 / w_a, 0 for an arm never played
    rest: FloatArray  # (k, b): 1 - lambda_a, lambda_a = rho^2 beta^2 / w_a; 1 if never played
    scatter: FloatArray  # (b,): the sum of log w_a
    whole: FloatArray  # (b,): the sum of 1 / w_a
    product: FloatArray  # (b,): room
    single: FloatArray  # (b,): that plus log S_0, where all arms are one group
    fit: FloatArray  # (k,): f, 0 for an arm never played
    z: FloatArray  # (k,)
    group: IntArray  # (k,)
    below: IntArray  # (k,): room
    s0: FloatArray  # (k, b), by group
    s1: FloatArray  # (k, b), by group
    s2: FloatArray  # (b,): the sum of (f_a - beta z_a)^2 / w_a
    alpha: FloatArray  # (k,), by group: its mean
    spread: FloatArray  # (k,), by group: its variance


def make_working(k: int) -> Working:
    """Allocate the working memory for ``k`` arms."""
    slopes = STEEPEST * RATIO ** -np.arange(N_SLOPES, dtype=np.float64)
    by_slope = [np.empty((k, N_SLOPES)) for _ in range(4)]
    return Working(
        squares=(RHO * slopes) ** 2,
        slopes=slopes,
        precision=by_slope[0],
        rest=by_slope[1],
        scatter=np.empty(N_SLOPES),
        whole=np.empty(N_SLOPES),
        product=np.empty(N_SLOPES),
        single=np.empty(N_SLOPES),
        fit=np.empty(k),
        z=np.empty(k),
        group=np.empty(k, np.int64),
        below=np.empty(k, np.int64),
        s0=by_slope[2],
        s1=by_slope[3],
        s2=np.empty(N_SLOPES),
        alpha=np.empty(k),
        spread=np.empty(k),
    )


@lean
def set_variances(plays: FloatArray, noise: float, w: Working) -> None:
    """Write what depends on plays and slopes alone; ``noise`` is sigma^2. O(k b)."""
    for b in range(N_SLOPES):
        w.scatter[b] = 0.0
        w.whole[b] = 0.0
        w.product[b] = 1.0
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
                w.product[b] = 1.0
    for b in range(N_SLOPES):
        w.single[b] = w.scatter[b] + np.log(w.whole[b])


@lean
def sum_groups(plays: FloatArray, n_groups: int, w: Working) -> None:
    """Write S_0, S_1 and S_2 for every slope from ``w.fit``, ``w.z`` and ``w.group``. O(k b)."""
    for c in range(n_groups):
        for b in range(N_SLOPES):
            w.s0[c, b] = 0.0
            w.s1[c, b] = 0.0
    for b in range(N_SLOPES):
        w.s2[b] = 0.0
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
def recall_sums(s1: FloatArray, w: Working) -> None:
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
def log_evidence(n_groups: int, w: Working, out: FloatArray) -> float:
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
def posterior_of_groups(n_groups: int, b: int, w: Working) -> None:
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
def shrink(b: int, w: Working, mean: FloatArray, variance: FloatArray) -> None:
    """Write the means and variances of the arms at slope b: the fit, shrunk to the line."""
    for a in range(mean.shape[0]):
        line = w.alpha[w.group[a]] + w.slopes[b] * w.z[a]
        rest = w.rest[a, b]
        mean[a] = w.fit[a] + rest * (line - w.fit[a])
        own = rest * w.squares[b] + rest * rest * w.spread[w.group[a]]
        variance[a] = max(own, LEAST_VARIANCE)
