r"""The posterior of one user, state by state: values with variances in, tastes out.

Component j is a state s with an overall factor f. Under it a user's tastes are

.. math:: \eta_a = f m_{sa} + l_a^T z + \varepsilon_a, \qquad z \sim N(0, I), \;
          \varepsilon_a \sim N(0, d_a),

with :math:`l_a = [L_a, f E_{sa}]` and :math:`d_a = f^2 \, \mathrm{own}_a`. A cell says that
:math:`\eta_a` is its value, give or take its variance. With :math:`v_a = d_a +` that variance and
:math:`r_a` = value - mean, over the user's cells alone,

.. math:: Q = I + \sum_a l_a l_a^T / v_a, \quad b = \sum_a l_a r_a / v_a, \quad
          z \mid \mathrm{cells} \sim N(Q^{-1} b, Q^{-1}),

.. math:: -2 \log \mathrm{ev} = \sum_a \log (2 \pi v_a) + \log |Q| + \sum_a r_a^2 / v_a
          - b^T Q^{-1} b,

.. math:: \eta_a = f_a + h_a (\mathrm{value}_a - f_a), \quad f_a = \mathrm{mean}_a + l_a^T z, \quad
          h_a = d_a / v_a, \quad \text{own variance } d_a (1 - h_a).

A user costs O(cells R^2 + R^3) for each component, R the number of columns of l.
"""

import math
from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.basics.kernel import kernel

LOG_2_PI = math.log(2.0 * math.pi)
LEAST, MOST = 1e-100, 1e100  # of a product whose logarithm is to be taken
NEGLIGIBLE = 1e-9  # a component's share of a user that tells nothing of the user's tastes


class Components(NamedTuple):
    """A prior as kernels read it: b factors, m states, component j = factor j // m, state j % m.

    The leading axis u is 1 where all users share the prior.
    """

    log_share: FloatArray  # (u, m): of a state, less log b
    mean: FloatArray  # (u, m, k)
    direction: FloatArray  # (u, m, k, e): columns of a state's own, E
    loading: FloatArray  # (k, r): columns that all states share, L
    own: FloatArray  # (u, m, k): what users differ by in one arm alone
    factor: FloatArray  # (b,)


class Cells(NamedTuple):
    """What users gave arms: the cells of user u are start[u] to start[u + 1].

    Values and variances have a row for each component, or one for all. Values are less their lift.
    """

    start: IntArray  # (n + 1,)
    arm: IntArray  # (c,)
    value: FloatArray  # (1 or b m, c)
    variance: FloatArray  # (1 or b m, c)
    rest: FloatArray  # (n, 1 or b m): what the log evidence of these lacks
    lift: FloatArray  # (1 or n, k): what features add to the tastes that are written below


class Posterior(NamedTuple):
    """Working memory for one user's posterior; R = r + e columns."""

    log: FloatArray  # (b m,): log of share times evidence
    centre: FloatArray  # (b m, R): the mean of z
    lower: FloatArray  # (b m, R, R): the Cholesky factor of Q
    row: FloatArray  # (R,): l of the arm in hand


def make_posterior(c: Components) -> Posterior:
    """Allocate the working memory."""
    j, size = len(c.factor) * c.mean.shape[1], c.loading.shape[1] + c.direction.shape[3]
    return Posterior(np.empty(j), np.empty((j, size)), np.empty((j, size, size)), np.empty(size))


@kernel
def condition(u: int, x: Cells, c: Components, p: Posterior) -> None:
    """Write log evidence, mean and precision of user u's z under every component."""
    m, size = c.mean.shape[1], p.row.shape[0]
    at = u if c.mean.shape[0] > 1 else 0
    for j in range(p.log.shape[0]):
        f, s = c.factor[j // m], j % m
        row = j if x.value.shape[0] > 1 else 0
        q, b = p.lower[j], p.centre[j]
        for i in range(size):
            for h in range(i + 1):
                q[i, h] = 0.0
            q[i, i] = 1.0
            b[i] = 0.0
        misfit, product = LOG_2_PI * (x.start[u + 1] - x.start[u]), 1.0
        for i in range(x.start[u], x.start[u + 1]):
            # Invariant: misfit + log(product) is the sum over cells before; logs are dear.
            a = x.arm[i]
            v = f * f * c.own[at, s, a] + x.variance[row, i]
            r, weight = x.value[row, i] - f * c.mean[at, s, a], 1.0 / v
            misfit += r * r * weight
            product *= v
            if not LEAST < product < MOST:
                misfit += math.log(product)
                product = 1.0
            gather(at, s, a, f, c, p.row)
            add_cell(p.row, r, weight, q, b)
        misfit += math.log(product) + solve(q, b)
        rest = x.rest[u, j if x.rest.shape[1] > 1 else 0]
        p.log[j] = c.log_share[at, s] + rest - 0.5 * misfit


@kernel
def gather(at: int, s: int, a: int, f: float, c: Components, row: FloatArray) -> None:
    """Write l_a = [L_a, f E_sa]."""
    r = c.loading.shape[1]
    for i in range(r):
        row[i] = c.loading[a, i]
    for i in range(r, row.shape[0]):
        row[i] = f * c.direction[at, s, a, i - r]


@kernel
def add_cell(row: FloatArray, r: float, weight: float, q: FloatArray, b: FloatArray) -> None:
    """Add a cell to the lower half of Q and to b; columns that an arm lacks cost nothing."""
    for i in range(row.shape[0]):
        if row[i] != 0.0:
            x = weight * row[i]
            b[i] += x * r
            for h in range(i + 1):
                q[i, h] += x * row[h]


@kernel
def solve(q: FloatArray, b: FloatArray) -> float:
    """Replace Q by its Cholesky factor and b by Q^-1 b; return log |Q| - b' Q^-1 b. O(R^3)."""
    size = b.shape[0]
    value = 0.0
    for i in range(size):
        # Invariant: rows above i are those of the factor, b above i those of the forward solve.
        for h in range(i):
            for g in range(h):
                q[i, h] -= q[i, g] * q[h, g]
            q[i, h] /= q[h, h]
            q[i, i] -= q[i, h] * q[i, h]
            b[i] -= q[i, h] * b[h]
        value += math.log(q[i, i])
        q[i, i] = math.sqrt(q[i, i])
        b[i] /= q[i, i]
        value -= b[i] * b[i]
    backward(q, b)
    return value


@kernel
def backward(lower: FloatArray, b: FloatArray) -> None:
    """Replace b by lower^-T b."""
    for i in range(b.shape[0] - 1, -1, -1):
        b[i] /= lower[i, i]
        for h in range(i):
            b[h] -= lower[i, h] * b[i]


@kernel
def forward(lower: FloatArray, b: FloatArray) -> float:
    """Replace b by lower^-1 b; return its square, b' Q^-1 b."""
    square = 0.0
    for i in range(b.shape[0]):
        for h in range(i):
            b[i] -= lower[i, h] * b[h]
        b[i] /= lower[i, i]
        square += b[i] * b[i]
    return square


@kernel
def dot(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
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


@kernel
def cell_beliefs(x: Cells, c: Components, e: FloatArray, v: FloatArray) -> None:
    """Write mean and variance of the taste behind each cell under each component, (b m, c)."""
    m, p = c.mean.shape[1], make_memory(c)
    for u in range(len(x.start) - 1):
        at = u if c.mean.shape[0] > 1 else 0
        condition(u, x, c, p)
        for j in range(len(p.log)):
            f, s, row = c.factor[j // m], j % m, j if len(x.value) > 1 else 0
            for i in range(x.start[u], x.start[u + 1]):
                a = x.arm[i]
                own = f * f * c.own[at, s, a]
                h = own / (own + x.variance[row, i])
                gather(at, s, a, f, c, p.row)
                centre = f * c.mean[at, s, a] + dot(p.row, p.centre[j])
                e[j, i] = centre + h * (x.value[row, i] - centre)
                v[j, i] = own * (1.0 - h) + (1.0 - h) ** 2 * forward(p.lower[j], p.row)


@kernel
def make_memory(c: Components) -> Posterior:
    """Allocate the working memory, inside a kernel."""
    j, size = len(c.factor) * c.mean.shape[1], c.loading.shape[1] + c.direction.shape[3]
    return Posterior(np.empty(j), np.empty((j, size)), np.empty((j, size, size)), np.empty(size))


@kernel
def shares_of_users(x: Cells, c: Components, shares: FloatArray, log: FloatArray) -> None:
    """Write every user's shares of the components, (n, b m), and log evidence, (n,)."""
    p = make_memory(c)
    for u in range(len(x.start) - 1):
        condition(u, x, c, p)
        log[u] = weigh(p.log, shares[u])


@kernel
def tastes_of_users(
    x: Cells, c: Components, shares: FloatArray, mean: FloatArray, variance: FloatArray
) -> None:
    """Write mean and variance of all tastes under each component that a user may be of, (n, j, k).

    Others, and arms without cells, keep what the prior says given z.
    """
    m, p = c.mean.shape[1], make_memory(c)
    for u in range(len(x.start) - 1):
        at = u if c.mean.shape[0] > 1 else 0
        condition(u, x, c, p)
        for j in range(len(p.log)):
            f, s, row = c.factor[j // m], j % m, j if len(x.value) > 1 else 0
            for a in range(mean.shape[2]):
                gather(at, s, a, f, c, p.row)
                mean[u, j, a] = f * c.mean[at, s, a] + dot(p.row, p.centre[j])
                variance[u, j, a] = forward(p.lower[j], p.row)
            for i in range(x.start[u], x.start[u + 1]):
                a = x.arm[i]
                own = f * f * c.own[at, s, a]
                h = own / (own + x.variance[row, i])
                mean[u, j, a] += h * (x.value[row, i] - mean[u, j, a])
                variance[u, j, a] *= (1.0 - h) ** 2
                variance[u, j, a] -= own * h
            for a in range(mean.shape[2]):
                variance[u, j, a] += f * f * c.own[at, s, a]
