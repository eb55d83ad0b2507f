"""One policy with the state of a chunk's users: what it plays, what that costs, who fails."""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from threading import Event
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.errors import LobError, LobInputError
from lobandits.policies import POLICIES, Policy, make_policy
from lobandits.policies.registry import parse_name
from lobandits.simulation.arrivals import Arrivals
from lobandits.simulation.moments import empty_blocks, sum_up_blocks
from lobandits.simulation.problems import Problems
from lobandits.simulation.rewards import ADDED, WAYS, pay, resampled
from lobandits.simulation.streams import BLOCK, Noise, Stream

if TYPE_CHECKING:
    from lobandits.simulation.chunk import Chunk


class SimulationError(LobError, RuntimeError):
    """A policy failed: it raised an error, or chose no arm that exists.

    Rounds count from 1, and 0 is while the policy is made. ``user`` is None where none alone is
    to blame.
    """

    def __init__(self, policy: str, user: int | None, round: int, what: str) -> None:  # noqa: A002
        super().__init__(policy, user, round, what)
        self.policy, self.user, self.round, self.what = policy, user, round, what

    def __str__(self) -> str:
        whom = "" if self.user is None else f", user {self.user}"
        when = f"round {self.round}" if self.round else "before the first round"
        return f"policy {self.policy!r}{whom}, {when}: {self.what}"


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C: the message says how far the run had come."""


@dataclass
class Outcome:
    """What one policy did in a chunk: moments of each block, and each user's cumulative regret.

    ``regret`` has no rounds if only means are kept.
    """

    blocks: FloatArray
    totals: FloatArray
    regret: FloatArray
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class PolicyRun:
    """Plays round after round: the policy chooses an arm for each user, and records the rewards."""

    def __init__(self, label: str, spec: Any, chunk: "Chunk", problems: Problems) -> None:
        self.label = label
        self.chunk = chunk
        self.problems = problems
        self.now = 0
        n = problems.n_users
        self.outcome = Outcome(
            blocks=empty_blocks(n, chunk.rounds),
            totals=np.zeros(n),
            regret=np.zeros((n, chunk.rounds if chunk.keep == "all" else 0)),
        )
        try:
            with _stopwatch(self.outcome):
                self._start(self._build(spec))
        except LobError:
            raise
        except Exception as error:
            raise SimulationError(label, None, 0, _words(error)) from error

    def play(self, shocks: FloatArray, start: int, stop: Event) -> None:
        """Play the rounds from ``start``, one for each row of ``shocks``."""
        outcome, self.now = self.outcome, start
        try:
            with _stopwatch(outcome):
                regret = self._rounds(shocks, stop)
        except (CancelledError, SimulationError):
            raise
        except Exception as error:
            guilty, now = self._guilty(), self.now + 1
            raise SimulationError(self.label, guilty, now, _words(error)) from error
        sum_up_blocks(regret, outcome.totals, outcome.blocks, start, BLOCK)
        if outcome.regret.size:
            outcome.regret[:, start : start + len(shocks)] = regret.T

    def _build(self, spec: Any) -> Policy:
        """Return the policy that plays: the one given, named or made by a function."""
        label, problems = self.label, self.problems
        if isinstance(spec, str):
            policy = make_policy(spec, cast("Any", problems), horizon=self.chunk.horizon)
        else:
            policy = spec if isinstance(spec, Policy) else spec(problems)
        if not isinstance(policy, Policy):
            raise LobInputError(
                f"the function for policy {label!r} returned {policy!r}, not a policy"
            )
        if policy.n_arms != problems.n_arms:
            raise LobInputError(
                f"policy {label!r} has {policy.n_arms} arms, the problems have {problems.n_arms}"
            )
        return policy

    def _start(self, policy: Policy) -> None:
        """Give all users a state without plays, and each block its random numbers."""
        n, chunk = self.problems.n_users, self.chunk
        known = {} if self.problems.features is None else {"features": self.problems.features}
        self.policy, self.state = policy, policy.start(n, **known)
        if self.state.n_users != n:
            raise ValueError(f"start({n}) made a state of {self.state.n_users} users")
        self.noise = Noise(policy.draw, chunk.seed, Stream.CHOICES, chunk.first, n)
        self.arrivals: Arrivals | None = None
        if self.problems.arrivals is not None:
            sets = self.problems.choice_sets
            self.arrivals = Arrivals(self.problems.arrivals, sets, chunk.seed, chunk.first, n)
        self.phase, self.present = 0, self.problems
        self.allowed = policy.all_arms
        self.numbers: Any = None
        self.played: tuple[IntArray, FloatArray] | None = None

    def _rounds(self, shocks: FloatArray, stop: Event) -> FloatArray:
        """Choose, pay and record, once for each row of ``shocks``; return the regret."""
        policy, state, problems, n = self.policy, self.state, self.problems, self.problems.n_users
        users, rewards, regret = np.arange(n), np.empty(n), np.empty(shocks.shape)
        lowest, highest = problems.bounds or (-np.inf, np.inf)
        way = WAYS.get(problems.rewards, ADDED)
        if problems.residuals is not None:
            shocks = resampled(shocks, problems.residuals, problems.sigma)
        noise = self.noise.rounds(len(shocks))
        sets = self._choice_sets(len(shocks))
        for shock, numbers, allowed, row in zip(shocks, noise, sets, regret, strict=True):
            if stop.is_set():
                raise CancelledError
            self.numbers, self.allowed, self.played = numbers, allowed, None
            arms = policy.decide(policy.seen(state), numbers, allowed)
            if not isinstance(arms, np.ndarray) or arms.shape != (n,) or arms.dtype != np.int64:
                raise TypeError(f"decide() must return int64 of shape ({n},), got {arms!r}")
            now = self._present()
            given = (now.noise_location, now.gaps, now.sigma, lowest, highest, way)
            illegal = pay(arms, shock, *given, rewards, row)
            if illegal >= 0:
                what = f"chose arm {arms[illegal]}, but the arms are 0 to {problems.n_arms - 1}"
                raise SimulationError(self.label, self.chunk.first + illegal, self.now + 1, what)
            self.played = arms, rewards
            policy.remember(state, users, arms, rewards)
            self.now += 1
        return regret

    def _present(self) -> Problems:
        """Return the problems of this round."""
        changes = self.problems.changes
        if changes is not None and self.now // changes.every != self.phase:
            self.phase = self.now // changes.every
            self.present = changes.phase(self.phase)
        return self.present

    def _choice_sets(self, n_rounds: int) -> Iterable[BoolArray]:
        """Return who may play which arms in each of the next rounds."""
        if self.arrivals is None:
            return repeat(self.policy.all_arms, n_rounds)
        return self.arrivals.rounds(n_rounds)

    def _guilty(self) -> int | None:
        """Return the first user for whom choosing, or recording, fails alone, if any."""
        for user in range(0 if self.numbers is None else self.problems.n_users):
            one = slice(user, user + 1)
            try:
                alone, policy = self.state.take([user]), self.policy.take([user])
                if self.played is None:
                    allowed = self.allowed[one if len(self.allowed) > 1 else slice(None)]
                    policy.decide(policy.seen(alone), self.numbers[one], allowed)
                else:
                    arms, rewards = self.played
                    policy.remember(alone, np.zeros(1, np.int64), arms[one], rewards[one])
            except Exception:
                return self.chunk.first + user
        return None


def policy_class(name: str) -> type[Policy]:
    """Return the class of a policy's name; refuse a name, or options, that cannot be read."""
    return POLICIES[parse_name(name)[0]]


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


@contextmanager
def _stopwatch(outcome: Outcome) -> Iterator[None]:
    """Add the wall and CPU time of a block of code, in this thread."""
    wall, cpu = time.perf_counter(), time.thread_time()
    yield
    outcome.seconds += time.perf_counter() - wall
    outcome.cpu_seconds += time.thread_time() - cpu
