"""Problems and games that the tests of several policies share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.beliefs import Gaussian, Prior
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies import Policy


@dataclass(frozen=True)
class Problems:
    """What `make_policy` needs."""

    n_arms: int
    sigma: float
    orders: LatentOrders | UserOrders
    state_means: FloatArray

    @property
    def prior(self) -> Prior:
        """A prior that all users share, with as many states as there are orders."""
        return random_prior(self.orders.n_states, self.orders.arms, self.sigma, seed=1)


def random_prior(n_states: int, arms: Sequence[str], sigma: float, seed: int) -> Prior:
    """Means around 2; users have a shift, a loading, scales and deviations of their own."""
    rng, k = np.random.default_rng(seed), len(arms)
    return Prior(
        arms=tuple(arms),
        shares=rng.dirichlet(np.ones(n_states)),
        means=rng.normal(2.0, 1.0, (n_states, k)),
        loadings=np.column_stack([rng.normal(0.7, 0.1, k), rng.normal(0.0, 0.5, k)]),
        own=rng.uniform(0.1, 0.4, k),
        scales=rng.uniform(0.1, 0.5, n_states),
        likelihood=Gaussian(sigma),
    )


def random_problems(
    n_arms: int, n_states: int, sigma: float, q: float, n_users: int | None, seed: int = 0
) -> Problems:
    """Random rankings with means k-1, ..., 0; shared, or per user if ``n_users`` is given."""
    rng = np.random.default_rng(seed)
    shape = (1 if n_users is None else n_users, n_states, n_arms)
    rankings = rng.permuted(np.broadcast_to(np.arange(n_arms), shape), axis=-1)
    means = np.empty(shape)
    np.put_along_axis(means, rankings, np.arange(n_arms)[::-1].astype(float), axis=-1)
    orders = UserOrders.from_rankings(rankings).reveal(q, rng)
    if n_users is None:
        return Problems(n_arms, sigma, orders[0], means[0])
    return Problems(n_arms, sigma, orders, means)


class Twin(Protocol):
    """One user, in plain Python."""

    def choose(self, noise: Any, /) -> int: ...
    def record(self, a: int, r: float) -> None: ...


def assert_same_game(
    policy: Policy,
    twins: Sequence[Twin],
    reward: Callable[[int, int, np.random.Generator], float],
    rounds: int,
    seed: int = 0,
) -> None:
    """Play one batch of users against their twins on shared random numbers."""
    rng, noises = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    state = policy.start(len(twins))
    for t in range(rounds):
        noise = policy.draw(noises, (len(twins),))
        arms = policy.decide(state, noise, policy.all_arms).tolist()
        assert arms == [twin.choose(noise[i].tolist()) for i, twin in enumerate(twins)], t
        rewards = [reward(i, arm, rng) for i, arm in enumerate(arms)]
        policy.record(state, arms, rewards)
        for twin, arm, r in zip(twins, arms, rewards, strict=True):
            twin.record(arm, r)


def gaussian(means: FloatArray, sigma: float) -> Callable[[int, int, np.random.Generator], float]:
    """Rewards N(means[user, arm], sigma^2)."""
    return lambda user, arm, rng: float(means[user, arm] + sigma * rng.standard_normal())


def constant(user: int, arm: int, rng: np.random.Generator) -> float:
    """All arms equal, without noise: as many ties as can be."""
    return 0.5
