"""Projections against scipy and quadprog, ratios measured in one run.

Run with ``python benchmarks/projection.py``.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
import quadprog
from scipy.optimize import isotonic_regression
from timing import seconds, show

import lobandits as lob
from lobandits.basics.checks import FloatArray

SEED = 0


def chain_row() -> list[object]:
    """Chains of 19 arms, a batch of 10,000, against scipy's isotonic_regression."""
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(10_000, 19))
    weights = rng.integers(1, 50, size=values.shape).astype(float)
    order = lob.PartialOrder.from_ranking(range(19))
    ours = seconds(lambda: lob.project(values, weights, order)) / len(values)
    theirs = (
        seconds(
            lambda: [
                isotonic_regression(v, weights=w, increasing=False)
                for v, w in zip(values[:1000], weights[:1000], strict=True)
            ]
        )
        / 1000
    )
    return ["chain k=19, batch 10,000: project / scipy", *micros(ours, theirs), ">= 25"]


def losses_row() -> list[object]:
    """All losses of 140 total orders of 19 arms, against 140 scipy calls."""
    rng = np.random.default_rng(SEED)
    rankings = [rng.permutation(19) for _ in range(140)]
    orders = lob.LatentOrders.from_rankings(rankings)
    values = rng.normal(size=19)
    weights = rng.integers(1, 50, size=19).astype(float)
    ours = seconds(lambda: lob.projection_losses(values, weights, orders), 200)
    theirs = seconds(
        lambda: [
            isotonic_regression(values[r], weights=weights[r], increasing=False) for r in rankings
        ]
    )
    return ["140 total orders k=19: projection_losses / scipy", *micros(ours, theirs), ">= 25"]


def tree_row() -> list[object]:
    """All tops of 15 orders revealed to 80 %, against the same orders when total."""
    rng = np.random.default_rng(SEED)
    total = lob.LatentOrders.from_rankings([rng.permutation(15) for _ in range(15)])
    partial = total.reveal(0.8, rng)
    values = rng.normal(size=(2000, 15))
    weights = rng.integers(1, 50, size=values.shape).astype(float)
    trees = seconds(lambda: lob.projection_losses(values, weights, partial), 20) / len(values)
    chains = seconds(lambda: lob.projection_losses(values, weights, total), 20) / len(values)
    row = ["trees q=0.8, m=k=15, all tops / total orders", f"{trees * 1e6:.2f}"]
    return [*row, f"{chains * 1e6:.2f}", f"{trees / chains:.2f}", "<= 4"]


def dag_row() -> list[object]:
    """A DAG of 15 arms and 23 direct relations, in a batch, against quadprog."""
    rng = np.random.default_rng(SEED)
    order = random_dag(15, 23, rng)
    values = rng.normal(size=(2000, 15))
    weights = rng.integers(1, 50, size=values.shape).astype(float)
    constraints, least = np.zeros((15, 23)), np.zeros(23)
    for i, (a, b) in enumerate(order.relations):
        constraints[a, i], constraints[b, i] = 1.0, -1.0
    ours = seconds(lambda: lob.project(values, weights, order)) / len(values)

    def solve(v: FloatArray, w: FloatArray) -> object:
        return quadprog.solve_qp(np.diag(w), w * v, constraints, least)

    theirs = (
        seconds(lambda: [solve(v, w) for v, w in zip(values[:500], weights[:500], strict=True)])
        / 500
    )
    return ["DAG k=15, 23 relations: project / quadprog", *micros(ours, theirs), ">= 1 (aim 3)"]


def random_dag(k: int, n_relations: int, rng: np.random.Generator) -> lob.PartialOrder:
    """Add random relations to an empty order until its reduction has the wanted size."""
    while True:
        pairs = [
            tuple(sorted(rng.choice(k, 2, replace=False).tolist())) for _ in range(n_relations)
        ]
        order = lob.PartialOrder.from_relations(k, {(a, b) for a, b in pairs})
        if len(order.relations) == n_relations:
            return order


def micros(ours: float, theirs: float) -> list[str]:
    return [f"{ours * 1e6:.2f}", f"{theirs * 1e6:.2f}", f"{theirs / ours:.1f}"]


def first_use() -> list[list[object]]:
    """Seconds for the first call of every projection kernel, in new processes."""
    code = (
        "import time; import lobandits as lob; o = lob.PartialOrder.from_ranking([0, 1]);"
        "start = time.perf_counter(); lob.project([1.0, 2.0], 1.0, o);"
        "lob.projection_losses([1.0, 2.0], 1.0, lob.LatentOrders.stack([o]));"
        "print(time.perf_counter() - start)"
    )
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", code]
        cold, warm = (
            float(subprocess.run(command, env=env, capture_output=True, check=True).stdout)
            for _ in range(2)
        )
        return [
            ["first use of all projection kernels, s", f"{cold:.1f}", "", "", "< 20"],
            ["the same from the cache, s", f"{warm:.2f}", "", "", "< 1"],
        ]


def main() -> None:
    rows = [chain_row(), losses_row(), tree_row(), dag_row(), *first_use()]
    show("Projection", ["job", "ours (us)", "other (us)", "ratio", "bar"], rows)


if __name__ == "__main__":
    main()
