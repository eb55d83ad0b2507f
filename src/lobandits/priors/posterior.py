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

The logs' Gaussians are narrower than users are: some differ from all states by more. So the misfit
:math:`q = Q - v R^2` can be judged by Student's t: with nu degrees of freedom and d arms that have
rewards, q becomes

.. math:: (\nu + d) \log (1 + q / \nu) - 2 \log \Gamma(\tfrac{\nu + d}{2})
          + 2 \log \Gamma(\tfrac{\nu}{2}) + d \log \tfrac{\nu}{2},

as if the covariance of each user had an unknown factor. A user whom no state fits is then not
given to the one that fits least badly.

`condition` finds the evidence of all states, `settle` the mean and gain g of one: few states
matter to a user. With M = diag(w) - diag(w) P diag(w) and m = l + d for a level l, D = d'Md,
R = d'My - l d'M1 - D, Q = y'My - 2 l y'M1 + l^2 1'M1 - 2 (d'My - l d'M1) + D: one quadratic form
for each state.
"""

import math
from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import lean

NEGLIGIBLE = 1e-12  # a share of a component that tells nothing of a user's means


class Components(NamedTuple):
    """A prior as kernels read it: b factors, m states, component j = factor (j // m), state j % m.

    Beside them stands the stranger, N(level 1, own I + common 11'), of weight exp(log_stranger).
    """

    log_share: FloatArray  # (b m,)
    mean: FloatArray  # (b m, k)
    direction: FloatArray  # (b m, k): the mean without its average over arms
    square: FloatArray  # (b m,): the variance of the personal scale
    centre: FloatArray  # (b m,): that average
    across: FloatArray  # (b, k, m): the directions, states last
    precision: FloatArray  # (b, k, k): the inverse of A
    log_det: FloatArray  # (b,): log |A|
    level: float
    own: float
    common: float
    log_stranger: float
    freedom: float  # nu of the states' evidence; 0 for Gaussian evidence
    log_tail: FloatArray  # (k + 1,): by d, the logs of Gamma above


class Posterior(NamedTuple):
    """Working memory for one user's posterior; arms k, factors b, components b m."""

    weight: FloatArray  # (k,): w
    value: FloatArray  # (k,): y, 0 for an arm never played
    upper: FloatArray  # (k, k): U with Lambda = U'U, of the factor in hand
    root: FloatArray  # (b, k, k): lower triangular R with P = R'R
    cov: FloatArray  # (b, k, k): P
    pull: FloatArray  # (b, k): P (w y)
    flat: FloatArray  # (b, k): P w
    gain: FloatArray  # (b m, k): g, of settled components
    mean: FloatArray  # (b m, k), of settled components
    form: FloatArray  # (4, m): D, d'My, d'M1 and what is in hand, of the factor in hand
    scale: FloatArray  # (b m,): the mean of z
    scale_var: FloatArray  # (b m,): its variance v
    log: FloatArray  # (b m + 1,): log of share times evidence; last the stranger's
    steady: FloatArray  # (2,): of the stranger: the variance and mean of its level


def make_posterior(n_factors: int, n_states: int, k: int) -> Posterior:
    """Allocate the working memory."""
    j = n_factors * n_states
    shapes = (
        (k,), (k,), (k, k), (n_factors, k, k), (n_factors, k, k), (n_factors, k), (n_factors, k),
        (j, k), (j, k), (4, n_states), (j,), (j,), (j + 1,), (2,),
    )  # fmt: skip
    return Posterior._make(np.zeros(shape) for shape in shapes)


def states_last(direction: FloatArray, n_factors: int) -> FloatArray:
    """Return directions (b m, k) as (b, k, m)."""
    b, k = n_factors, direction.shape[1]
    return np.ascontiguousarray(direction.reshape(b, -1, k).transpose(0, 2, 1))


def log_tails(freedom: float, k: int) -> FloatArray:
    """Return the constants of Student's t by the number of arms that have rewards, (k + 1,)."""
    from scipy.special import gammaln

    half, d = 0.5 * freedom, np.arange(k + 1)
    if freedom == 0:
        return np.zeros(k + 1)
    logs: FloatArray = gammaln(half + 0.5 * d) - gammaln(half) - 0.5 * d * np.log(half)
    return logs


@lean
def condition(
    counts: IntArray, sums: FloatArray, sigma: float, c: Components, p: Posterior
) -> None:
    """Write the evidence and the scale of every component; O(b k^3 + b m k^2)."""
    read_rewards(counts, sums, sigma, p.weight, p.value)
    for f in range(c.precision.shape[0]):
        log_det = c.log_det[f] + invert(c.precision[f], p.weight, p.upper, p.root[f], p.cov[f])
        smooth(p.cov[f], p.weight, p.value, p.pull[f], p.flat[f])
        weigh_states(f, log_det, c, p)
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
            for j in range(q + 1):
                cov[q, j] += f * root[i, j]
    for i in range(k):
        for j in range(i):
            cov[j, i] = cov[i, j]
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
def weigh_states(f: int, log_det: float, c: Components, p: Posterior) -> None:
    """Write log weight and scale of the states with factor f; O(m k^2), in rows of states.

    Averages are taken from the first state's level, so that a large common level cancels nothing.
    """
    k, m = c.across.shape[1], c.across.shape[2]
    origin = c.centre[f * m]
    square = cross = flat = 0.0
    for a in range(k):
        w, y = p.weight[a], p.value[a] - origin
        if w > 0.0:
            one = w * (1.0 - p.flat[f, a])
            square += w * y * (p.value[a] - p.pull[f, a] - origin * (1.0 - p.flat[f, a]))
            cross += y * one
            flat += one
    forms(f, origin, c, p)
    played = 0
    for a in range(k):
        played += p.weight[a] > 0.0
    for s in range(m):
        j, level = f * m + s, c.centre[f * m + s] - origin
        dd = p.form[0, s]
        dy = p.form[1, s] - level * p.form[2, s]
        dr = dy - dd
        rr = square - 2.0 * level * cross + level * level * flat - 2.0 * dy + dd
        factor = 1.0 + c.square[j] * dd
        p.scale_var[j] = c.square[j] / factor
        p.scale[j] = p.scale_var[j] * dr
        misfit = rr - dr * p.scale[j]
        if c.freedom > 0.0:
            heavy = (c.freedom + played) * math.log1p(max(misfit, 0.0) / c.freedom)
            misfit = heavy - 2.0 * c.log_tail[played]
        p.log[j] = c.log_share[j] - 0.5 * (log_det + math.log(factor) + misfit)


@lean
def forms(f: int, origin: float, c: Components, p: Posterior) -> None:
    """Write d'Md, d'My and d'M1 of all states, y from ``origin``; M is symmetric: half of it."""
    k, m = c.across.shape[1], c.across.shape[2]
    d, dd, dy, d1, row = c.across[f], p.form[0], p.form[1], p.form[2], p.form[3]
    for s in range(m):
        dd[s] = dy[s] = d1[s] = 0.0
    for a in range(k):
        w = p.weight[a]
        if w == 0.0:
            continue
        one = w * (1.0 - p.flat[f, a])
        pulled = w * (p.value[a] - p.pull[f, a]) - origin * one
        own = w - w * w * p.cov[f, a, a]
        for s in range(m):
            row[s] = own * d[a, s]
        for b in range(a):
            x = -2.0 * w * p.cov[f, a, b] * p.weight[b]
            if x != 0.0:
                for s in range(m):
                    row[s] += x * d[b, s]
        for s in range(m):
            dd[s] += row[s] * d[a, s]
            dy[s] += pulled * d[a, s]
            d1[s] += one * d[a, s]


@lean
def settle(j: int, c: Components, p: Posterior) -> None:
    """Write gain and mean of component j, after `condition`; O(k^2).

    Since m = level + d, P (w m) is the level times P w plus P (w d): one product serves both.
    """
    k, f = p.weight.shape[0], j // c.across.shape[2]
    d, g, mean = c.direction[j], p.gain[j], p.mean[j]
    for a in range(k):
        g[a] = d[a]
    for b in range(k):
        x = p.weight[b] * d[b]
        if x != 0.0:
            for a in range(k):
                g[a] -= p.cov[f, b, a] * x
    level, z = c.centre[j], p.scale[j]
    for a in range(k):
        pulled = p.pull[f, a] - level * p.flat[f, a] - (d[a] - g[a])
        mean[a] = c.mean[j, a] + pulled + z * g[a]


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
            if shares[u, j] > NEGLIGIBLE:
                settle(j, c, p)
                for a in range(k):
                    means[u, a] += shares[u, j] * p.mean[j, a]
        for a in range(k):
            free = 1.0 + p.weight[a] * c.own
            shift = c.level + p.steady[1]
            own = shift + (p.value[a] - shift) * (1.0 - 1.0 / free)
            means[u, a] += shares[u, -1] * own
        log_evidence[u] = log
