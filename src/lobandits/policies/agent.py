"""Agent: one policy for one user, by the names of arms."""

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lobandits.basics.checks import BoolArray, generator, one_of
from lobandits.basics.files import read_versioned, write_versioned
from lobandits.errors import LobInputError
from lobandits.orders.arms import Arm, arm_index
from lobandits.orders.contexts import places, without_context
from lobandits.policies.explanation import Explanation
from lobandits.policies.policy import Policy
from lobandits.policies.registry import policy_from_dict, stored_form
from lobandits.statistics import State
from lobandits.statistics.rewards import checked_reward

FORMAT = "lobandits.agent"
VERSION = 1
FIELDS = ("policy", "state", "random")
GENERATORS = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")
POSITIONS = {"buffer_pos": 4, "pos": 624}  # in the buffers of Philox and MT19937, at most


class Agent:
    """One user's policy, state and random numbers.

    Parameters
    ----------
    policy
        Any policy of `POLICIES`.
    seed
        A seed, or a generator that the agent draws from.
    features
        What is known of the user, by the names of the model's features.

    Examples
    --------
    >>> from lobandits.policies import UCB
    >>> agent = Agent(UCB(2, sigma=1.0, arms=("tea", "coffee")), seed=0)
    >>> agent.record("tea", 0.3)
    >>> agent.choose()
    'coffee'
    """

    def __init__(
        self,
        policy: Policy,
        seed: np.random.Generator | int = 0,
        features: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(policy, Policy):
            raise LobInputError(f"an agent needs a policy of rewards, got {policy!r}")
        if policy.n_users not in (None, 1):
            raise LobInputError(
                f"an agent is one user, but the policy has parts for {policy.n_users}; "
                "take(user) gives the policy of one"
            )
        self.policy = policy
        self.state = policy.start(features=None if features is None else [features])
        self.rng = generator(seed)

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms."""
        return self.policy.arms

    def choose(self, allowed: Iterable[Arm] | None = None, context: str | None = None) -> str:
        """Return the arm to play next.

        The rewards of all arms count, whichever are allowed.

        Parameters
        ----------
        allowed
            Names or numbers of the arms to choose from, by default all.
        context
            Choose among the arms of a context, which are named ``"context: arm"``; within it, the
            arm returned and those allowed are named without it.
        """
        policy, sets = self.policy, self._sets(allowed, context)
        noise = policy.draw(self.rng, (1,))
        name = policy.arms[policy.decide(policy.seen(self.state), noise, sets).item()]
        return name if context is None else without_context(name, context)

    def _sets(self, allowed: Iterable[Arm] | None, context: str | None = None) -> BoolArray:
        """Return a choice set, (1, n_arms)."""
        if allowed is None and context is None:
            return self.policy.all_arms
        sets = np.zeros((1, self.policy.n_arms), np.bool_)
        sets[0, places(self.arms, allowed, context)] = True
        return sets

    def record(self, arm: str | int, reward: float, context: str | None = None) -> None:
        """Add the reward of an arm, given by its name (or number)."""
        if context is not None:
            (arm,) = places(self.arms, [arm], context)
        number = arm_index(self.arms, arm)
        played, given = np.array([number]), np.array([checked_reward(reward)])
        self.policy.remember(self.state, np.zeros(1, np.int64), played, given)

    def probabilities(
        self, allowed: Iterable[Arm] | None = None, context: str | None = None
    ) -> dict[str, float]:
        """Return the chance of each arm to be the next choice."""
        sets = self._sets(allowed, context)
        chances = self.policy.probabilities(self.state, sets)[0].tolist()
        return dict(zip(self.arms, chances, strict=True))

    def explain(
        self, allowed: Iterable[Arm] | None = None, context: str | None = None
    ) -> Explanation:
        """Return what speaks for each arm; with a context, of those that may be played there."""
        return self.policy.explain(self.state, allowed=self._sets(allowed, context))

    def __repr__(self) -> str:
        return f"Agent({self.policy!r}, plays={int(self.state.plays[0])})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a JSON file; a crash leaves the old file or the new one.

        A policy that could not be read back is refused before anything is written.
        """
        parts = stored_form(self.policy), self.state.to_dict(), self.rng.bit_generator.state
        fields = {name: _plain(part) for name, part in zip(FIELDS, parts, strict=True)}
        write_versioned(path, FORMAT, VERSION, fields)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Agent":
        """Return the agent saved in a file; it continues with the choices it would have made."""
        policy, state, rng = _read(path)
        agent = cls(policy, rng)
        agent.state = state
        return agent


def _read(path: str | os.PathLike[str]) -> tuple[Policy, State, np.random.Generator]:
    """Return a saved agent's parts, or name the file and the field that is wrong."""
    data = read_versioned(path, FORMAT, VERSION, FIELDS, "a saved agent")
    field = "policy"
    try:
        policy = policy_from_dict(data["policy"])
        field = "state"
        state = policy.restore(data["state"])
        if state.n_users != 1:
            raise LobInputError(f"an agent is one user, got {state.n_users}")
        field = "random"
        return policy, state, _generator(data["random"])
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise LobInputError(f"{path}: the field {field!r} is wrong: {error}") from error


def _generator(state: Mapping[str, Any]) -> np.random.Generator:
    kind = one_of("generator", state["bit_generator"], GENERATORS)
    bits: np.random.BitGenerator = getattr(np.random, kind)()
    bits.state = _arrays(state)
    known = {**bits.state, **bits.state["state"]}
    for name, most in POSITIONS.items():  # NumPy does not check these, and reads what is there
        if not 0 <= known.get(name, 0) <= most:
            raise LobInputError(f"{name} is {known[name]}; it must lie between 0 and {most}")
    return np.random.Generator(bits)


def _arrays(value: Any) -> Any:
    """Turn the lists inside a generator's state back into arrays."""
    if isinstance(value, Mapping):
        return {key: _arrays(inside) for key, inside in value.items()}
    return np.array(value, np.uint64) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Turn arrays into lists, and numbers that JSON lacks (inf, nan) into text."""
    if isinstance(value, Mapping):
        return {key: _plain(inside) for key, inside in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(inside) for inside in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
