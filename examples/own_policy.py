"""A policy of your own against lobTS: trust the order that fits best, explore a little.

A policy is a frozen dataclass with a name and one method, `odds`. Defining it makes it known by its
name: it runs in `simulate`, in an `Agent`, in the commands (``--import own_policy.py``) and in the
service, like all others. Writes own_policy.png.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import lobandits as lob
from lobandits.policies import OrderPolicy


@dataclass(frozen=True)
class GreedyOrders(OrderPolicy[lob.State]):
    """Play the top of the order with the least projection loss; now and then any allowed arm."""

    name = "greedy"
    explore: float = 0.05

    def odds(self, state: lob.State, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the chance of every arm, (n_users, n_arms), up to a factor per user."""
        means = np.nan_to_num(state.means)
        losses = lob.projection_losses(means, state.counts, self.orders).min(axis=1)
        losses = np.where(allowed, losses, np.inf)
        best = losses == losses.min(axis=1, keepdims=True)
        odds: NDArray[np.float64] = allowed * (best * (1 - self.explore) + self.explore)
        return odds


def main() -> None:
    env = lob.Synthetic(n_arms=10, n_states=10)
    policies = ["greedy", "greedy(explore=0.2)", "lobts", "ts"]
    result = lob.simulate(env, policies, horizon=300, n_users=200, progress=False)
    print(result.summary(), end="\n\n")
    print(result.difference("lobts", "greedy"))
    result.plot().savefig("own_policy.png", dpi=150)

    agent = lob.Agent(GreedyOrders(env.sample(1, seed=0).known_orders, sigma=1.0), seed=0)
    agent.record(agent.choose(), 3.0)
    agent.save("greedy.json")
    print(lob.Agent.load("greedy.json").explain())


if __name__ == "__main__":
    main()
