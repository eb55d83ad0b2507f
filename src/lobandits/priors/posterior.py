r"""Posteriors of all states for one user, in closed form.

Under component j, a state with an overall factor f, a user's means are

.. math:: \mu \sim N(f m_s, \; A_f + \rho_s^2 f^2 d_s d_s^T), \qquad
          A_f = f^2 \Sigma + \tau^2 1 1^T, \qquad d_s = m_s - \bar m_s 1,

and the average y_a of n_a rewards adds the variance 1 / w_a, w_a = n_a / sigma^2. All states share

.. math:: \Lambda = A_f^{-1} + \mathrm{diag}(w), \qquad P = \Lambda^{-1},

so one factorisation serves them all. With r = y - f m, d = f d_s, g = d - P (w d) and the
sums over arms

.. math:: D = \sum w g d, \quad R = \sum w g r, \quad Q = \sum w r (r - P (w r)),

the personal scale is :math:`z \sim N(v R, v)` with :math:`v = \rho^2 / (1 + \rho^2 D)`, and

.. math:: \mu \mid y \sim N(f m + P (w r) + v R g, \; P + v g g^T), \qquad
          -2 \log \mathrm{ev} = \log |A| |\Lambda| + \log (1 + \rho^2 D) + Q - v R^2

up to a constant that all components share. An arm without rewards has w = 0 and drops out.
"""

import math
from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import lean


class Components(NamedTuple):
    """A prior as kernels read it: b factors, m states, component j = factor (j // m), state j % m.

    Beside them stands the stranger, N(level 1, own I + common 11'), of weight exp(log_stranger).
    """

    log_share: FloatArray  # (b m,)
    mean: FloatArray  # (b m, k)
    direction: FloatArray  # (b m, k): the mean without its average over arms
    square: FloatArray  # (b m,): the variance of the personal scale
    precision: FloatArray  # (b, k, k): the inverse of A
    log_det: FloatArray  # (b,): log |A|
    level: float
    own: float
    common: float
    log_stranger: float


class Posterior(NamedTuple):
    """Working memory for one user's posterior; arms k, factors b, components b m."""

    weight: FloatArray  # (k,): w
    value: FloatArray  # (k,): y, 0 for an arm never played
    upper: FloatArray  # (k, k): U with Lambda = U'U, of the factor in hand
    root: FloatArray  # (b, k, k): lower triangular R with P = R'R
    cov: FloatArray  # (b, k, k): P
    pull: FloatArray  # (b, k): P (w y)
    flat: FloatArray  # (b, k): P w
    gain: FloatArray  # (b m, k): g
    mean: FloatArray  # (b m, k)
    scale: FloatArray  # (b m,): the mean of z
    scale_var: FloatArray  # (b m,): its variance v
    log: FloatArray  # (b m + 1,): log of share times evidence; last the stranger's
    steady: FloatArray  # (2,): of the stranger: the variance and mean of its level


def make_posterior(n_factors: int, n_states: int, k: int) -> Posterior:
    """Allocate the working memory."""
    j = n_factors * n_states
    shapes = (
        (k,), (k,), (k, k), (n_factors, k, k), (n_factors, k, k), (n_factors, k), (n_factors, k),
        (j, k), (j, k), (j,), (j,), (j + 1,), (2,),
    )  # fmt: skip
    return Posterior._make(np.zeros(shape) for shape in shapes)


@lean
def condition(
    counts: IntArray, sums: FloatArray, sigma: float, c: Components, p: Posterior
) -> None:
    """Write the posterior of every component; O(b k^3 + b m k^2)."""
    n_factors = c.precision.shape[0]
    m = c.mean.shape[0] // n_factors
    read_rewards(counts, sums, sigma, p.weight, p.value)
    for f in range(n_factors):
        log_det = c.log_det[f] + invert(c.precision[f], p.weight, p.upper, p.root[f], p.cov[f])
        smooth(p.cov[f], p.weight, p.value, p.pull[f], p.flat[f])
        for j in range(f * m, f * m + m):
            log = condition_state(j, f, c, p)
            p.log[j] = c.log_share[j] + log - 0.5 * log_det
    p.log[-1] = c.log_stranger
    if c.log_stranger > -np.inf:
        p.log[-1] += condition_stranger(c, p)


@lean
def read_rewards(
    counts: IntArray, sums: FloatArray, sigma: float, weight: FloatArray, value: FloatArray
) -> None:
    """Write the precision and the average of each arm's rewards."""
    for a in range(counts.shape[0]):
        weight[a] = counts[a] / (sigma * sigma)
        value[a] = sums[a] / counts[a] if counts[a] > 0 else 0.0


@lean
def invert(
    precision: FloatArray, weight: FloatArray, upper: FloatArray, root: FloatArray, cov: FloatArray
) -> float:
    """Write R = U^-T and P = R'R for U'U = precision + diag(weight); return log |U'U|. O(k^3).

    All inner loops run along rows. Invariant: rows above i of U, of R, are final.
    """
    k = weight.shape[0]
    log_det = 0.0
    for i in range(k):
        for j in range(i, k):
            upper[i, j] = precision[i, j]
        upper[i, i] += weight[i]
        for q in range(i):
            f = upper[q, i]
            for j in range(i, k):
                upper[i, j] -= f * upper[q, j]
        pivot = math.sqrt(max(upper[i, i], 1e-300))
        log_det += 2.0 * math.log(pivot)
        for j in range(i, k):
            upper[i, j] /= pivot
    for i in range(k):
        for j in range(k):
            root[i, j] = cov[i, j] = 0.0
        root[i, i] = 1.0
        for q in range(i):
            f = upper[q, i]
            for j in range(q + 1):
                root[i, j] -= f * root[q, j]
        pivot = upper[i, i]
        for j in range(i + 1):
            root[i, j] /= pivot
        for q in range(i + 1):
            f = root[i, q]
            for j in range(i + 1):
                cov[q, j] += f * root[i, j]
    return log_det


@lean
def smooth(
    cov: FloatArray, weight: FloatArray, value: FloatArray, pull: FloatArray, flat: FloatArray
) -> None:
    """Write P (w y) and P w, from which every state's P (w r) follows."""
    k = weight.shape[0]
    for a in range(k):
        pull[a] = flat[a] = 0.0
    for b in range(k):
        if weight[b] > 0.0:
            wy = weight[b] * value[b]
            for a in range(k):
                pull[a] += cov[b, a] * wy
                flat[a] += cov[b, a] * weight[b]


@lean
def condition_state(j: int, f: int, c: Components, p: Posterior) -> float:
    """Write the posterior of component j; return its log evidence but for the shared part. O(k^2).

    Since m = level + d, P (w m) is the level times P w plus P (w d): one product serves both.
    """
    k = p.weight.shape[0]
    d, g, mean = c.direction[j], p.gain[j], p.mean[j]
    level = c.mean[j, 0] - d[0]
    for a in range(k):
        g[a] = d[a]
    for b in range(k):
        x = p.weight[b] * d[b]
        if x != 0.0:
            for a in range(k):
                g[a] -= p.cov[f, b, a] * x
    dd = dr = rr = 0.0
    for a in range(k):
        residual = p.value[a] - c.mean[j, a]
        pulled = p.pull[f, a] - level * p.flat[f, a] - (d[a] - g[a])
        mean[a] = c.mean[j, a] + pulled
        w = p.weight[a]
        dd += w * g[a] * d[a]
        dr += w * g[a] * residual
        rr += w * residual * (residual - pulled)
    factor = 1.0 + c.square[j] * dd
    p.scale_var[j] = c.square[j] / factor
    p.scale[j] = p.scale_var[j] * dr
    for a in range(k):
        mean[a] += p.scale[j] * g[a]
    return float(-0.5 * (math.log(factor) + rr - dr * p.scale[j]))


@lean
def condition_stranger(c: Components, p: Posterior) -> float:
    """Write the mean and variance of the stranger's level; return the log evidence. O(k)."""
    total = pull = square = log = 0.0
    for a in range(p.weight.shape[0]):
        free = 1.0 + p.weight[a] * c.own
        h = p.weight[a] / free
        residual = p.value[a] - c.level
        total += h
        pull += h * residual
        square += h * residual * residual
        log += math.log(free)
    free = 1.0 + c.common * total
    p.steady[0] = c.common / free
    p.steady[1] = p.steady[0] * pull
    return float(-0.5 * (log + math.log(free) + square - pull * p.steady[1]))


@lean
def weigh(log: FloatArray, out: FloatArray) -> float:
    """Write exp(log) as shares that sum to one; return the log of their sum."""
    highest = -np.inf
    for j in range(log.shape[0]):
        highest = max(highest, log[j])
    total = 0.0
    for j in range(log.shape[0]):
        out[j] = math.exp(log[j] - highest)
        total += out[j]
    for j in range(log.shape[0]):
        out[j] /= total
    return highest + math.log(total)


@lean
def posterior_of_users(
    counts: IntArray,
    sums: FloatArray,
    sigma: float,
    c: Components,
    p: Posterior,
    shares: FloatArray,
    means: FloatArray,
    log_evidence: FloatArray,
) -> None:
    """Write every user's shares of the components, posterior mean and log evidence.

    The stranger takes part if it has weight: ``shares`` has a column more than there are
    components.
    """
    k = counts.shape[1]
    for u in range(len(counts)):
        condition(counts[u], sums[u], sigma, c, p)
        log = weigh(p.log, shares[u])
        for a in range(k):
            if counts[u, a] > 0:
                log += 0.5 * math.log(p.weight[a] / (2.0 * math.pi))
            means[u, a] = 0.0
        for j in range(c.mean.shape[0]):
            for a in range(k):
                means[u, a] += shares[u, j] * p.mean[j, a]
        for a in range(k):
            free = 1.0 + p.weight[a] * c.own
            shift = c.level + p.steady[1]
            own = shift + (p.value[a] - shift) * (1.0 - 1.0 / free)
            means[u, a] += shares[u, -1] * own
        log_evidence[u] = log
