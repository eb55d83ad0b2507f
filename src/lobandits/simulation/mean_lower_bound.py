"""The lower bound on regret, averaged over the problems of an environment."""

import math

from lobandits.orders import LatentOrders, UserOrders
from lobandits.simulation.environment import Environment
from lobandits.theory import regret_lower_bound

MOST_USERS = 50  # of so many users it is computed, at most


def mean_lower_bound(env: Environment, n: int, seed: int) -> float:
    """Return the mean constant of the lower bound over the first ``n`` users."""
    problems = env.sample(n, seed)
    known: dict[tuple[bytes, LatentOrders], float] = {}
    constants = []
    for user, means in enumerate(problems.means):
        orders = problems.orders
        key = means.tobytes(), orders[user] if isinstance(orders, UserOrders) else orders
        if key not in known:
            known[key] = regret_lower_bound(means, key[1], problems.sigma).constant
        constants.append(known[key])
    return math.fsum(constants) / n
