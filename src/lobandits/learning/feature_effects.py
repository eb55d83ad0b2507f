r"""How much features say of tastes, W and B, each with a strength by evidence.

.. math:: \eta_u = m_s + L (W x_u + z_u) + B x_u + \varepsilon_u, \qquad
          W_{ij} \sim N(0, \tau_W^2), \quad B_{aj} \sim N(0, \tau_B^2).

Given the prior, users' rewards tell of W by the scores :math:`\sum_u E[z_u] x_u^T` with the
information :math:`\sum_u (I - Q_u^{-1}) \otimes x_u x_u^T`, and of arm a's row of B by
:math:`\sum_u x_u (V_u^{-1} r_u)_a` with :math:`\sum_u (V_u^{-1})_{aa} x_u x_u^T`, V the covariance
of a user's cells and r what they are off their mean: the sums over z are done, so that it takes a
few rounds where EM would take hundreds. With g = information times estimate + score, a direction of
information h has the evidence

.. math:: \tfrac12 \Big(\frac{\tau^2 g^2}{1 + \tau^2 h} - \log(1 + \tau^2 h)\Big)

over none, and the estimate :math:`\tau^2 g / (1 + \tau^2 h)`. The strength is where the sum over
all directions is largest; it is 0 unless that is clear. W finds what moves many arms, B what moves
few.
"""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.basics.kernel import kernel
from lobandits.beliefs.posterior import (
    Cells,
    Components,
    condition,
    dot,
    forward,
    gather,
    make_memory,
    weigh,
)
from lobandits.learning.em import UNLIKELY, Map, Parameters, Users, invert

LEAST = 2.5  # nats over no effect at all, to believe in one: by chance in one of eighty logs
STRENGTHS = 2.0 ** np.arange(-16.0, 15.0)  # over the usual information of a direction
ROUNDS = 6


class Scores(NamedTuple):
    """What users' rewards say of features' effects, given the prior and the effects so far."""

    z: FloatArray  # (n, r): E z
    information: FloatArray  # (r, r): the sum of I - Q^-1 over users
    cell: FloatArray  # (c,): (V^-1 r)_a
    precision: FloatArray  # (c,): (V^-1)_aa


class Effects(NamedTuple):
    """W and B."""

    shared: FloatArray  # (r, p)
    single: FloatArray  # (k, p)

    def lifts(self, x: FloatArray, loadings: FloatArray) -> FloatArray:
        """Return what x adds to tastes, (n, k)."""
        lifts: FloatArray = x @ (loadings @ self.shared + self.single).T
        return lifts

    @property
    def tell(self) -> bool:
        """Whether features say anything."""
        return bool(self.shared.any() or self.single.any())


def no_effects(p: Parameters, columns: int) -> Effects:
    """Return effects of 0."""
    k, r = p.loadings.shape
    return Effects(np.zeros((r, columns)), np.zeros((k, columns)))


def fit_effects(blocks: list[Users], x: FloatArray, p: Parameters, run: Map = map) -> Effects:
    """Return W and B given the other parameters; blocks are left with the lifts that these give.

    O(cells R^2 + n p^2 + k p^3) a round.
    """
    effects = no_effects(p, x.shape[1])
    gram, arms = x.T @ x, np.concatenate([block.rewards.arm for block in blocks])
    rows = np.repeat(
        np.arange(len(x)), np.concatenate([np.diff(block.rewards.start) for block in blocks])
    )
    by_arm = np.split(np.argsort(arms, kind="stable"), np.cumsum(np.bincount(
        arms, minlength=len(p.loadings)))[:-1])  # fmt: skip
    for _ in range(ROUNDS):
        lift_blocks(blocks, effects.lifts(x, p.loadings))
        scores = score_all(blocks, p, run)
        shared = _shared(scores, x, gram, effects.shared)
        effects = effects._replace(shared=shared)
        lift_blocks(blocks, effects.lifts(x, p.loadings))
        scores = score_all(blocks, p, run)
        effects = effects._replace(single=_single(scores, x, rows, by_arm, effects.single))
        if not effects.tell:
            break
    lift_blocks(blocks, effects.lifts(x, p.loadings))
    return effects


def lift_blocks(blocks: list[Users], lifts: FloatArray) -> None:
    """Give the users of the blocks, one after the other, their lifts."""
    first = 0
    for block in blocks:
        block.lift(lifts[first : first + block.n_users])
        first += block.n_users


def _shared(t: Scores, x: FloatArray, gram: FloatArray, now: FloatArray) -> FloatArray:
    """Return W: users' information taken to be the same on average, whatever their features."""
    rho, u = np.linalg.eigh(t.information / max(len(x), 1))
    gamma, v = np.linalg.eigh(gram)
    h = np.maximum(np.outer(rho, gamma), 0.0)
    g = h * (u.T @ now @ v) + u.T @ (t.z.T @ x) @ v
    effects: FloatArray = u @ _shrunk(g, h) @ v.T
    return effects


def _single(
    t: Scores, x: FloatArray, rows: IntArray, by_arm: list[IntArray], now: FloatArray
) -> FloatArray:
    """Return B, arm after arm, with one strength for all."""
    h, g = np.empty(now.shape), np.empty(now.shape)
    basis = np.empty((*now.shape, now.shape[1]))
    for a, some in enumerate(by_arm):
        seen = x[rows[some]]
        values, basis[a] = np.linalg.eigh((seen * t.precision[some][:, None]).T @ seen)
        h[a] = np.maximum(values, 0.0)
        g[a] = h[a] * (basis[a].T @ now[a]) + basis[a].T @ (t.cell[some] @ seen)
    effects: FloatArray = np.einsum("aij,aj->ai", basis, _shrunk(g, h))
    return effects


def _shrunk(g: FloatArray, h: FloatArray) -> FloatArray:
    """Return the estimates of all directions under the strength of the most evidence, or 0."""
    told = h > 1e-9 * h.max()
    if not told.any():
        return np.zeros(g.shape)
    strengths = STRENGTHS / float(np.median(h[told]))
    seen = 1.0 + strengths[:, None] * h[told]
    gains = 0.5 * (strengths[:, None] * g[told] ** 2 / seen - np.log(seen)).sum(axis=1)
    best = int(gains.argmax())
    if gains[best] < LEAST:
        return np.zeros(g.shape)
    effects: FloatArray = np.where(told, strengths[best] * g / (1.0 + strengths[best] * h), 0.0)
    return effects


def score_all(blocks: list[Users], p: Parameters, run: Map = map) -> Scores:
    """Return what all users' rewards say, block after block."""
    parts = list(run(_score_block, blocks, [p] * len(blocks)))
    for block, (_, cells) in zip(blocks, parts, strict=True):
        block.cells = cells  # another process has made them
    z, information, cell, precision = zip(*(part for part, _ in parts), strict=True)
    total: FloatArray = information[0]
    for more in information[1:]:
        total = total + more
    return Scores(np.concatenate(z), total, np.concatenate(cell), np.concatenate(precision))


def _score_block(block: Users, p: Parameters) -> tuple[Scores, Cells | None]:
    cells, r = block.believed(p), p.loadings.shape[1]
    c = len(cells.arm)
    scores = Scores(np.zeros((block.n_users, r)), np.zeros((r, r)), np.zeros(c), np.zeros(c))
    add_scores(cells, p.components, scores)
    return scores, block.cells


@kernel
def add_scores(x: Cells, c: Components, out: Scores) -> None:
    """Add what users' rewards say, state by state as likely. O(cells m R^2 + m R^3) for each."""
    m, r, p = c.mean.shape[1], c.loading.shape[1], make_memory(c)
    share, size = np.empty(m), p.row.shape[0]
    cov = np.empty((size, size))
    for u in range(len(x.start) - 1):
        condition(u, x, c, p)
        weigh(p.log, share)
        for s in range(m):
            if share[s] < UNLIKELY:
                continue
            invert(p.lower[s], cov)
            for i in range(r):
                out.z[u, i] += share[s] * p.centre[s, i]
                out.information[i, i] += share[s]
                for h in range(r):
                    out.information[i, h] -= share[s] * cov[i, h]
            row = s if len(x.value) > 1 else 0
            for i in range(x.start[u], x.start[u + 1]):
                a = x.arm[i]
                v = c.own[0, s, a] + x.variance[row, i]
                gather(0, s, a, 1.0, c, p.row)
                off = x.value[row, i] - c.mean[0, s, a] - dot(p.row, p.centre[s])
                out.cell[i] += share[s] * off / v
                out.precision[i] += share[s] * (1.0 - forward(p.lower[s], p.row) / v) / v
