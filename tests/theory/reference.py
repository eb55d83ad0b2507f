"""Slow twins of the lower bound: general solvers, every state and every top, no structure used."""

from collections.abc import Iterator

import numpy as np
import quadprog
from scipy.optimize import minimize

from lobandits.basics.checks import FloatArray
from lobandits.orders import LatentOrders


def pairs(orders: LatentOrders, best: int) -> Iterator[tuple[int, int]]:
    """Every state with every arm, other than the best one, that can be on top of it."""
    for s in range(orders.n_states):
        for b in range(orders.n_arms):
            if b != best and not orders.precedes[s, :, b].any():
                yield s, b


def nearest(
    means: FloatArray, weights: FloatArray, orders: LatentOrders, state: int, top: int
) -> tuple[FloatArray, float]:
    """min sum_a w_a (x_a - mu_a)^2: x in the cone, top on top, x = mu on the best arm; w > 0."""
    k, best = len(means), int(np.argmax(means))
    unit = np.eye(k)
    rows = [unit[best]]
    rows += [unit[a] - unit[b] for a, b in np.argwhere(orders.precedes[state])]
    rows += [unit[top] - unit[b] for b in range(k) if b != top]
    rhs = np.zeros(len(rows))
    rhs[0] = means[best]
    loads = np.where(np.arange(k) == best, 1.0, weights)
    fit = quadprog.solve_qp(np.diag(loads), loads * means, np.array(rows).T, rhs, 1)[0]
    return fit, float(weights @ (fit - means) ** 2)


def lower_bound(means: FloatArray, orders: LatentOrders, sigma: float) -> float:
    """Regret per log T, as 1 / max {z : F_p(c) >= z for all pairs p, sum_a c_a Delta_a = 1}."""
    k, best = len(means), int(np.argmax(means))
    gaps = means[best] - means
    others = [a for a in range(k) if a != best]
    every = list(pairs(orders, best))
    if not every:
        return 0.0

    def distances(c: FloatArray) -> FloatArray:
        weights = np.zeros(k)
        weights[others] = np.maximum(c, 1e-8)
        fits = [nearest(means, weights, orders, s, b)[0] for s, b in every]
        return (np.array(fits) - means)[:, others] ** 2 / (2 * sigma**2)

    start = 1.0 / gaps[others] ** 2
    start /= start @ gaps[others]
    result = minimize(
        lambda x: -x[-1],
        np.append(start, (distances(start) @ start).min()),
        jac=lambda x: np.append(np.zeros(k - 1), -1.0),
        bounds=[(1e-8, None)] * (k - 1) + [(0, None)],
        constraints=[
            {
                "type": "ineq",
                "fun": lambda x: distances(x[:-1]) @ x[:-1] - x[-1],
                "jac": lambda x: np.column_stack([distances(x[:-1]), -np.ones(len(every))]),
            },
            {
                "type": "eq",
                "fun": lambda x: x[:-1] @ gaps[others] - 1,
                "jac": lambda x: np.append(gaps[others], 0.0),
            },
        ],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    c = np.maximum(result.x[:-1], 1e-8)
    return float(c @ gaps[others] / (distances(c) @ c).min())
