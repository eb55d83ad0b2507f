r"""EM for a mixture of Gaussians seen through noisy averages: the prior of users' means.

A user of state s has the means

.. math:: \mu = m_s + c 1 + z d_s + \varepsilon, \qquad c \sim N(0, \tau^2), \;
          z \sim N(0, \rho_s^2), \; \varepsilon \sim N(0, \Sigma),

with d_s = m_s - average(m_s), and each cell of the table counts with its own precision n / sigma^2;
cells without rewards are absent. The parameters maximise the evidence of all users plus

* ``-kappa/2 |m_s - m_0|^2`` in the metric of the population's covariance: means of small states and
  of rare arms stay with the population's;
* ``-nu/2 (log |Sigma| + sum_a log (Sigma^-1)_aa)``, which is 0 for a diagonal Sigma and negative
  for all others, as if nu users had told the diagonal only; and nu_0 users the population's;
* pseudo-users for the shares and the scales.

`expect` sums what the users tell, `maximise` solves for the parameters in closed form. Each step
raises the penalised evidence.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import kernel, writable
from lobandits.priors.posterior import (
    Components,
    Posterior,
    condition,
    log_tails,
    make_posterior,
    settle,
    states_last,
    weigh,
)

CHUNK = 1024  # users summed up together: sums are the same on any number of threads
UNLIKELY = 1e-9  # states of less weight for a user tell nothing of the state
TOLERANCE = 1e-4  # of the evidence per user, to go on


class Parameters(NamedTuple):
    """The prior as EM sees it."""

    shares: FloatArray  # (m,)
    means: FloatArray  # (m, k)
    spread: FloatArray  # (k, k)
    shift: float
    scales: FloatArray  # (m,)
    sigma: float


class Penalty(NamedTuple):
    """What keeps the parameters sane where users are few; strengths count users."""

    centre: FloatArray  # (k,): m_0
    metric: FloatArray  # (k, k): the inverse of the population's covariance
    variances: FloatArray  # (k,): the population's spread of each arm
    means: float = 1.0  # kappa
    diagonal: float = 100.0  # nu
    population: float = 0.5  # nu_0
    shares: float = 1.0
    scales: float = 4.0
    scale: float = 0.3  # the scale that these tell


class Told(NamedTuple):
    """Sums over users of what they tell, in expectation."""

    state: FloatArray  # (m,): the users of each state
    scale: FloatArray  # (m,): their z
    square: FloatArray  # (m,): z^2
    rest: FloatArray  # (m, k): e = c 1 + eps
    scaled: FloatArray  # (m, k): z e
    outer: FloatArray  # (k, k): e e'
    totals: FloatArray  # (2,): log evidence; the sum of n (y - mu)^2


def nothing_told(m: int, k: int) -> Told:
    """Return sums over no users."""
    shapes = (m,), (m,), (m,), (m, k), (m, k), (k, k), (2,)
    return Told._make(np.zeros(shape) for shape in shapes)


class Inverses(NamedTuple):
    """Of the spread, and of the spread with the shift: what each step of EM needs often."""

    spread: FloatArray  # (k, k)
    log_det: float  # of the spread
    shared: FloatArray  # (k, k): of the spread and shift^2 in all cells, by Sherman and Morrison
    factor: float  # by which the shift raises the determinant


def inverses_of(p: Parameters) -> Inverses:
    """Return the inverses that belong to the parameters; one of k x k is computed."""
    inverse: FloatArray = np.linalg.inv(p.spread).astype(np.float64)
    across = inverse.sum(axis=1)
    factor = 1.0 + p.shift**2 * float(across.sum())
    shared = inverse - (p.shift**2 / factor) * across[:, None] * across
    return Inverses(inverse, float(np.linalg.slogdet(p.spread)[1]), shared, factor)


def components_of(p: Parameters, inverses: Inverses | None = None) -> Components:
    """Return the parameters as the kernels of posteriors read them, without a stranger."""
    i = inverses or inverses_of(p)
    centre = p.means.mean(axis=1)
    direction = p.means - centre[:, None]
    return Components(
        log_share=np.log(p.shares),
        mean=p.means,
        direction=direction,
        centre=centre,
        across=states_last(direction, 1),
        square=p.scales**2,
        precision=i.shared[None],
        log_det=np.array([i.log_det + np.log(i.factor)]),
        level=0.0,
        own=1.0,
        common=1.0,
        log_stranger=-np.inf,
        freedom=0.0,
        log_tail=log_tails(0.0, p.means.shape[1]),
    )


def expect(
    counts: IntArray,
    sums: FloatArray,
    p: Parameters,
    workers: int | None = None,
    inverses: Inverses | None = None,
) -> Told:
    """Return what all users tell under the parameters, in threads over chunks of users."""
    components = components_of(p, inverses)
    m, k = p.means.shape

    def sum_chunk(first: int) -> Told:
        part = slice(first, first + CHUNK)
        told = nothing_told(m, k)
        room = make_posterior(1, m, k), np.empty(m + 1), np.empty((2, k))
        n, total = writable(counts[part]), writable(sums[part])
        tell(n, total, p.sigma, UNLIKELY, components, *room, told)
        return told

    starts = range(0, len(counts), CHUNK)
    if len(starts) == 1:
        return sum_chunk(0)
    with ThreadPoolExecutor(workers or cpu_count()) as pool:
        return _added(pool.map(sum_chunk, starts))


def _added(parts: Iterator[Told]) -> Told:
    total = next(parts)
    for part in parts:
        for sum_, more in zip(total, part, strict=True):
            sum_ += more
    return total


@kernel
def tell(
    counts: IntArray,
    sums: FloatArray,
    sigma: float,
    unlikely: float,
    c: Components,
    p: Posterior,
    share: FloatArray,
    room: FloatArray,
    told: Told,
) -> None:
    """Add every user's part to ``told``; O(k^3 + m k^2) for each, mostly O(m k^2 / 2).

    With the posterior's z, v, g: e has the mean mu - m - z d and the covariance P + v h h', where
    h = d - g, and its covariance with z is -v h.
    """
    k, m = counts.shape[1], c.mean.shape[0]
    e, h = room[0], room[1]
    for u in range(len(counts)):
        condition(counts[u], sums[u], sigma, c, p)
        told.totals[0] += weigh(p.log, share)
        for a in range(k):
            if counts[u, a] > 0:
                told.totals[0] += 0.5 * np.log(p.weight[a] / (2.0 * np.pi))
                told.totals[1] += counts[u, a] * p.cov[0, a, a]
            for b in range(a + 1):
                told.outer[a, b] += p.cov[0, a, b]
        for s in range(m):
            r = share[s]
            if r < unlikely:
                continue
            settle(s, c, p)
            z, v = p.scale[s], p.scale_var[s]
            told.state[s] += r
            told.scale[s] += r * z
            told.square[s] += r * (z * z + v)
            for a in range(k):
                e[a] = p.mean[s, a] - c.mean[s, a] - z * c.direction[s, a]
                h[a] = c.direction[s, a] - p.gain[s, a]
                told.rest[s, a] += r * e[a]
                told.scaled[s, a] += r * (z * e[a] - v * h[a])
                miss = p.value[a] - p.mean[s, a]
                own = miss * miss + v * p.gain[s, a] * p.gain[s, a]
                told.totals[1] += r * counts[u, a] * own
            for a in range(k):
                re, rh = r * e[a], r * v * h[a]
                for b in range(a + 1):
                    told.outer[a, b] += re * e[b] + rh * h[b]


def maximise(
    told: Told, p: Parameters, penalty: Penalty, n: int, inverses: Inverses | None = None
) -> Parameters:
    """Return the parameters that the users' sums call for; sigma stays.

    First the means, given the old spread; then spread, shift and scales given the new means.
    """
    m, k = p.means.shape
    i = inverses or inverses_of(p)
    outer = told.outer + np.tril(told.outer, -1).T
    pull = p.shift**2 * i.shared.sum(axis=1)  # E[c | e] = pull' e
    left = max(p.shift**2 * (1.0 - pull.sum()), 0.0)  # Var[c | e]
    rest = np.eye(k) - pull  # E[eps | e] = rest e
    first, second = told.rest @ rest.T, told.scaled @ rest.T
    own = rest @ outer @ rest.T + n * left
    step = _mean_steps(told, first, second, i.spread, p, penalty)
    along = step - step.mean(axis=1, keepdims=True)
    crossed = step.T @ (told.scale[:, None] * along) - first.T @ step - second.T @ along
    own += step.T @ (told.state[:, None] * step) + along.T @ (told.square[:, None] * along)
    own += crossed + crossed.T
    diagonal = penalty.diagonal / np.diag(i.spread) + penalty.population * penalty.variances
    spread = (own + np.diag(diagonal)) / (n + penalty.diagonal + penalty.population)
    squares = told.square + penalty.scales * penalty.scale**2
    return Parameters(
        shares=(told.state + penalty.shares) / (told.state.sum() + m * penalty.shares),
        means=p.means + step,
        spread=0.5 * (spread + spread.T),
        shift=float(np.sqrt(max(pull @ outer @ pull / n + left, 1e-12 * np.trace(spread)))),
        scales=np.sqrt(squares / (told.state + penalty.scales)),
        sigma=p.sigma,
    )


def _mean_steps(
    told: Told,
    first: FloatArray,
    second: FloatArray,
    precision: FloatArray,
    p: Parameters,
    penalty: Penalty,
) -> FloatArray:
    """Return by how much each state's mean moves: the normal equations of mu = m + z d + ..."""
    centred = np.eye(len(precision)) - 1.0 / len(precision)
    half = precision @ centred
    state, scale, square = (n[:, None, None] for n in (told.state, told.scale, told.square))
    curvature = state * precision + scale * (half + half.T) + square * (centred @ half)
    curvature = curvature + penalty.means * penalty.metric
    slope = first @ precision + second @ half
    slope += penalty.means * (penalty.centre - p.means) @ penalty.metric
    step: FloatArray = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0].astype(np.float64)
    return step


def log_penalty(p: Parameters, penalty: Penalty, inverses: Inverses | None = None) -> float:
    """Return what is added to the evidence; at most 0 but for constants."""
    gaps = p.means - penalty.centre
    i = inverses or inverses_of(p)
    own, squares = np.diag(i.spread), p.scales**2
    return float(
        penalty.shares * np.log(p.shares).sum()
        - 0.5 * penalty.means * (gaps @ penalty.metric * gaps).sum()
        - 0.5 * penalty.diagonal * (i.log_det + np.log(own).sum())
        - 0.5 * penalty.population * (i.log_det + penalty.variances @ own)
        - 0.5 * penalty.scales * (np.log(squares) + penalty.scale**2 / squares).sum()
    )


def climb(
    counts: IntArray,
    sums: FloatArray,
    p: Parameters,
    penalty: Penalty,
    steps: int,
    extra_squares: tuple[float, float] | None = None,
    workers: int | None = None,
) -> tuple[Parameters, list[float]]:
    """Return the parameters after EM, and the penalised evidence before each step.

    With ``extra_squares``, (the sum of squares within cells, the number of rewards), sigma is a
    parameter too.
    """
    n = len(counts)
    trace: list[float] = []
    for _ in range(steps):
        inverses = inverses_of(p)
        told = expect(counts, sums, p, workers, inverses)
        trace.append(float(told.totals[0]) + log_penalty(p, penalty, inverses))
        if len(trace) > 3 and trace[-1] - trace[-2] < TOLERANCE * n:
            break
        new = maximise(told, p, penalty, n, inverses)
        if extra_squares is not None:
            within, rewards = extra_squares
            new = new._replace(sigma=float(np.sqrt((within + told.totals[1]) / rewards)))
        p = new
    return p, trace


def log_evidence(counts: IntArray, sums: FloatArray, p: Parameters) -> FloatArray:
    """Return the log evidence of each user's averages, (n,)."""
    from lobandits.priors.posterior import posterior_of_users

    (n, k), m = counts.shape, len(p.means)
    shares, means, log = np.empty((n, m + 1)), np.empty((n, k)), np.empty(n)
    room = make_posterior(1, m, k)
    known = writable(counts), writable(sums)
    posterior_of_users(*known, p.sigma, components_of(p), room, shares, means, log)
    return log
