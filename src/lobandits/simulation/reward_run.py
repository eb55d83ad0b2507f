"""A round of rewards: the policy chooses an arm for each user, and is told what it earned."""

from collections.abc import Iterable
from concurrent.futures import CancelledError
from dataclasses import fields
from itertools import repeat
from threading import Event
from typing import Any, cast

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.policies import POLICIES, Policy, make_policy
from lobandits.policies.registry import parse_name
from lobandits.simulation.arrivals import Arrivals
from lobandits.simulation.errors import SimulationError
from lobandits.simulation.policy_run import PolicyRun
from lobandits.simulation.problems import Problems
from lobandits.simulation.rewards import pay
from lobandits.simulation.streams import Noise, Stream


class RewardRun(PolicyRun):
    """A policy of rewards with the state of a chunk's users."""

    policy_type = Policy

    @staticmethod
    def named(name: str) -> type[Policy]:
        """Return the class of that name; refuse a name, or options, that cannot be read."""
        return POLICIES[parse_name(name)[0]]

    @staticmethod
    def make(name: str, problems: Problems, horizon: int) -> Policy:
        """Return the policy of that name for these problems."""
        plain, options = parse_name(name)
        needed = {field.name for field in fields(cast("Any", POLICIES[plain]))} - set(options)
        if problems.state_means is None and "state_means" in needed:
            raise LobInputError(f"{name} needs the means of states; give the problems state_means")
        return make_policy(name, cast("Any", problems), horizon=horizon)

    def start(self, policy: Policy) -> None:
        """Give all users a state without plays, and each block its random numbers."""
        n, chunk = self.problems.n_users, self.chunk
        self.policy, self.state = policy, policy.start(n)
        if self.state.n_users != n:
            raise ValueError(f"start({n}) made a state of {self.state.n_users} users")
        self.noise = Noise(policy.draw, chunk.seed, Stream.CHOICES, chunk.first, n)
        self.arrivals: Arrivals | None = None
        if self.problems.arrivals is not None:
            sets = self.problems.choice_sets
            self.arrivals = Arrivals(self.problems.arrivals, sets, chunk.seed, chunk.first, n)
        self.allowed = policy.all_arms
        self.numbers: Any = None
        self.played: tuple[IntArray, FloatArray] | None = None

    def rounds(self, shocks: FloatArray, stop: Event) -> FloatArray:
        """Choose, pay and record, once for each row of ``shocks``."""
        policy, state, problems, n = self.policy, self.state, self.problems, self.problems.n_users
        users, rewards, regret = np.arange(n), np.empty(n), np.empty(shocks.shape)
        lowest, highest = problems.bounds or (-np.inf, np.inf)
        given = (problems.noise_location, problems.gaps, problems.sigma, lowest, highest)
        binary = problems.rewards == "bernoulli"
        noise = self.noise.rounds(len(shocks))
        sets = self._choice_sets(len(shocks))
        for shock, numbers, allowed, row in zip(shocks, noise, sets, regret, strict=True):
            if stop.is_set():
                raise CancelledError
            self.numbers, self.allowed, self.played = numbers, allowed, None
            arms = policy.decide(state, numbers, allowed)
            if not isinstance(arms, np.ndarray) or arms.shape != (n,) or arms.dtype != np.int64:
                raise TypeError(f"decide() must return int64 of shape ({n},), got {arms!r}")
            illegal = pay(arms, shock, *given, binary, rewards, row)
            if illegal >= 0:
                what = f"chose arm {arms[illegal]}, but the arms are 0 to {problems.n_arms - 1}"
                raise SimulationError(self.label, self.chunk.first + illegal, self.now + 1, what)
            self.played = arms, rewards
            policy.absorb(state, users, arms, rewards)
            self.now += 1
        return regret

    def _choice_sets(self, n_rounds: int) -> Iterable[BoolArray]:
        """Return who may play which arms in each of the next rounds."""
        if self.arrivals is None:
            return repeat(self.policy.all_arms, n_rounds)
        return self.arrivals.rounds(n_rounds)

    def guilty(self) -> int | None:
        """Return the first user for whom choosing, or recording, fails alone, if any."""
        for user in range(0 if self.numbers is None else self.problems.n_users):
            one = slice(user, user + 1)
            try:
                alone, policy = self.state.take([user]), self.policy.take([user])
                if self.played is None:
                    allowed = self.allowed[one if len(self.allowed) > 1 else slice(None)]
                    policy.decide(alone, self.numbers[one], allowed)
                else:
                    arms, rewards = self.played
                    policy.absorb(alone, np.zeros(1, np.int64), arms[one], rewards[one])
            except Exception:
                return self.chunk.first + user
        return None
