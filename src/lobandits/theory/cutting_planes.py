"""Covering programs with infinitely many rows, by cutting planes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.errors import LobError

TOLERANCE = 1e-7
MAX_ROUNDS = 300
PATIENCE = 5  # rounds in which a certified plan waits for a vertex, where unneeded arms are 0
OPTIONS = {
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
    "presolve": False,  # costs more than it saves on small dense programs
}

Separate = Callable[[FloatArray], FloatArray]


class Cover(NamedTuple):
    """A feasible y, and ``lower``, at most the optimum, of which each family has a share."""

    plan: FloatArray
    lower: float
    rounds: int
    shares: FloatArray


def cover(costs: FloatArray, separate: Separate, start: FloatArray) -> Cover:
    """Solve min over y >= 0 of costs @ y, such that row @ y >= 1 for all rows of every family.

    A family is a set of non-negative rows, perhaps infinite; ``separate(y)`` returns from each
    family a row that minimises row @ y, shape (families, len(y)). Kelley's cutting planes, from
    the rows at a feasible ``start``: the master program over the rows seen so far gives a vertex
    y, and the rows that it violates are added, as are those of a point halfway to the cheapest
    plan so far, which saves about a third of the rounds. Neither certificate trusts the solver:
    y / (min row @ y) satisfies every row, so its cost is at least the optimum; the master's dual
    solution, clipped and rescaled until feasible, is at most it.
    """

    def price(y: FloatArray) -> float:
        return float(costs @ y)

    most, level = 2 * len(costs), 1 - TOLERANCE / 4
    cheapest, rows, families = _probe(separate, start, most, np.inf)
    rounds, waited = 0, 0
    while True:
        rounds += 1
        vertex, dual = _master(costs, rows)
        enough = dual.sum() / (1 - TOLERANCE)
        plan, cuts, owners = _probe(separate, vertex, most, level)
        if price(plan) <= min(enough, price(start)):
            cheapest = plan
            break
        cheapest = min(cheapest, plan, key=price)
        waited += int(price(cheapest) <= enough)
        if waited == PATIENCE or len(cuts) == 0 or rounds == MAX_ROUNDS:
            break
        plan, more, theirs = _probe(separate, (vertex + cheapest) / 2, most, level)
        cheapest = min(cheapest, plan, key=price)
        rows = np.concatenate([rows, cuts, more])
        families = np.concatenate([families, owners, theirs])
    shares = np.bincount(families, weights=dual, minlength=families.max() + 1)
    return Cover(cheapest, float(dual.sum()), rounds, shares.astype(np.float64))


def _probe(
    separate: Separate, point: FloatArray, most: int, level: float
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return ``point`` scaled until feasible, the tightest rows below level, and their families."""
    tightest = separate(point)
    margins = tightest @ point
    deepest = margins.argsort()[:most]
    families = deepest[margins[deepest] < level]
    least = float(margins.min())
    plan = point / least if least > 0 else np.full_like(point, np.inf)
    return plan, tightest[families], families


def _master(costs: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the optimal vertex of min costs @ y, rows @ y >= 1, and a feasible dual solution.

    HiGHS drops entries below 1e-9 and errs by absolute tolerances: harmless in units of cost,
    with the largest entry of each row 1 and the right-hand sides around 1.
    """
    from scipy.optimize import linprog

    yields = rows / costs
    need = 1.0 / yields.max(axis=1)
    unit = np.sqrt(need.min() * need.max())
    result = linprog(
        np.ones_like(costs),
        A_ub=-yields * need[:, None],
        b_ub=-need / unit,
        method="highs-ds",
        options=OPTIONS,
    )
    if result.x is None:
        raise LobError(f"HiGHS could not solve the linear program: {result.message}")
    dual = np.maximum(-result.ineqlin.marginals, 0.0) * need
    return np.maximum(result.x, 0.0) / costs * unit, dual / (dual @ yields).max()
