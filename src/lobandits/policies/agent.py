"""Agent: one user, arm names in and out, saved and loaded with its random numbers."""

import math
import os

import numpy as np

from lobandits._checks import generator
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_index
from lobandits.policies import storage
from lobandits.policies.base import Policy
from lobandits.policies.explain import Explanation
from lobandits.policies.rewards import LARGEST


class Agent:
    """One user's policy, state and random numbers.

    Parameters
    ----------
    policy
        Any policy of `POLICIES`.
    seed
        A seed, or a generator that the agent draws from.

    Examples
    --------
    >>> from lobandits.policies import UCB
    >>> agent = Agent(UCB(2, sigma=1.0, arms=("tea", "coffee")), seed=0)
    >>> agent.record("tea", 0.3)
    >>> agent.choose()
    'coffee'
    """

    def __init__(self, policy: Policy, seed: np.random.Generator | int = 0) -> None:
        if not isinstance(policy, Policy):
            raise LobInputError(f"an agent needs a policy of rewards, got {policy!r}")
        if policy.n_users not in (None, 1):
            raise LobInputError(
                f"an agent is one user, but the policy has parts for {policy.n_users}; "
                "take(user) gives the policy of one"
            )
        self.policy = policy
        self.state = policy.start()
        self.rng = generator(seed)
        self._index = {name: i for i, name in enumerate(policy.arms)}
        self._user = np.zeros(1, np.int64)
        self._arm = np.zeros(1, np.int64)
        self._reward = np.zeros(1)

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms."""
        return self.policy.arms

    def choose(self) -> str:
        """Return the arm to play next."""
        policy = self.policy
        noise = policy.draw(self.rng, (1,))
        return policy.arms[policy.decide(self.state, noise).item()]

    def record(self, arm: str | int, reward: float) -> None:
        """Add the reward of an arm, given by its name (or number)."""
        index = self._index.get(arm) if isinstance(arm, str) else None
        self._arm[0] = arm_index(self.arms, arm) if index is None else index
        try:
            fits = math.fabs(reward) <= LARGEST
        except (OverflowError, TypeError, ValueError):
            fits = False
        if not fits:
            raise LobInputError(
                f"reward is {reward!r}; it must be a finite number, at most {LARGEST:g}"
            )
        self._reward[0] = reward
        self.policy.absorb(self.state, self._user, self._arm, self._reward)

    def probabilities(self) -> dict[str, float]:
        """Return the chance of each arm to be the next choice."""
        odds = self.policy.probabilities(self.state)[0].tolist()
        return dict(zip(self.arms, odds, strict=True))

    def explain(self) -> Explanation:
        """Return what speaks for each arm."""
        return self.policy.explain(self.state)

    def __repr__(self) -> str:
        return f"Agent({self.policy!r}, plays={int(self.state.plays[0])})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a JSON file; a crash leaves the old file or the new one."""
        storage.write(path, self.policy, self.state, self.rng)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Agent":
        """Return the agent saved in a file; it continues with the choices it would have made.

        Raises
        ------
        LobInputError
            If the file cannot be read; the message names the file and the field.
        """
        policy, state, rng = storage.read(path)
        agent = cls(policy, rng)
        agent.state = state
        return agent
