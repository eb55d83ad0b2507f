"""A policy of your own against lobTS: trust the order that fits best, explore a little.

A policy is a frozen dataclass with three methods: `decide`, `propensities` and `details`. With
these it runs in `simulate`, in an `Agent` and in batches, like all others. Writes own_policy.png.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import lobandits as lob
from lobandits.policies import Details, OrderPolicy


@dataclass(frozen=True, eq=False, repr=False)
class GreedyOrders(OrderPolicy):
    """Play the top of the order with the least projection loss; now and then another top."""

    name = "greedy"
    explore: float = 0.05

    def decide(self, state: lob.State, noise: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return one arm for each user, drawn by the propensities."""
        cumulative = self.propensities(state).cumsum(axis=1)
        chosen: NDArray[np.int64] = (cumulative > noise[:, None]).argmax(axis=1)
        return chosen

    def propensities(self, state: lob.State) -> NDArray[np.float64]:
        """Return the chance of every arm, (n_users, n_arms)."""
        tops = np.broadcast_to(self.orders.tops, state.counts.shape)
        losses = self.losses(state)
        best = losses == losses.min(axis=1, keepdims=True)
        odds: NDArray[np.float64] = (1 - self.explore) * best / best.sum(axis=1, keepdims=True)
        odds += self.explore * tops / tops.sum(axis=1, keepdims=True)
        return odds

    def details(self, state: lob.State) -> Details:
        """Return what `explain` shows beside plays, means and probabilities."""
        return Details(arms={"loss": self.losses(state)[0]})

    def losses(self, state: lob.State) -> NDArray[np.float64]:
        """Return the loss of the best fit with each arm on top, (n_users, n_arms)."""
        means = np.nan_to_num(state.means)
        losses: NDArray[np.float64] = lob.projection_losses(means, state.counts, self.orders)
        least: NDArray[np.float64] = losses.min(axis=1)
        return least


def main() -> None:
    env = lob.Synthetic(n_arms=10, n_states=10)
    result = lob.simulate(
        env,
        {
            "greedy": lambda problems: GreedyOrders(problems.orders, problems.sigma),
            "lobts": "lobts",
            "ts": "ts",
        },
        horizon=300,
        n_users=200,
        progress=False,
    )
    print(result.summary(), end="\n\n")
    print(result.difference("lobts", "greedy"))
    result.plot().savefig("own_policy.png", dpi=150)

    agent = lob.Agent(GreedyOrders(env.sample(1, seed=0).orders, sigma=1.0), seed=0)
    agent.record(agent.choose(), 3.0)
    print(agent.explain())


if __name__ == "__main__":
    main()
