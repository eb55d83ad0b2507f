"""The means of all arms given a hypothesis: kept in order, and with its arm truly on top."""

import math

import numpy as np

from lobandits._checks import FloatArray
from lobandits._jit import lean
from lobandits.orders import DAG, OrderTables
from lobandits.projection.kernels import fit_one
from lobandits.projection.pooling import Scratch


@lean
def keeps_order(mean: FloatArray, t: OrderTables, row: int, state: int, top: int) -> bool:
    """Tell whether the means keep the order with ``top`` above all; False for any DAG."""
    if t.kind[row, state] == DAG:
        return False
    kept = True
    for a in range(mean.shape[0]):
        upper = t.parent[row, state, a]
        kept &= mean[a] <= mean[upper if upper >= 0 else top]
    return kept


@lean
def put_in_order(
    mean: FloatArray,
    variance: FloatArray,
    t: OrderTables,
    row: int,
    state: int,
    top: int,
    weight: FloatArray,
    out: FloatArray,
    s: Scratch,
    flow: FloatArray,
) -> None:
    """Project the means on the order with ``top`` above all, weighted by 1 / variance."""
    if keeps_order(mean, t, row, state, top):
        for a in range(mean.shape[0]):
            out[a] = mean[a]
        return
    for a in range(mean.shape[0]):
        weight[a] = 1.0 / variance[a]
    fit_one(mean, weight, t, row, state, top, out, s, flow)


@lean
def raise_above(mean: FloatArray, top: int, variance: float) -> None:
    """Replace the mean m of ``top`` by E[X | X > M], X ~ N(m, variance), M the best other mean.

    That is M + sd (x + phi(x) / Phi(x)) with x = (m - M) / sd.
    """
    best = -np.inf
    for a in range(mean.shape[0]):
        if a != top:
            best = max(best, mean[a])
    if best == -np.inf:
        return
    sd = math.sqrt(variance)
    x = (mean[top] - best) / sd
    density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    mean[top] = best + sd * (x + density / (0.5 * math.erfc(-x / math.sqrt(2.0))))
