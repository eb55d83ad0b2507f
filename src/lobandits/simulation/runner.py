"""One chunk of users: every policy, every round, in this thread.

All policies meet the same users and the same noise: in round t, user u's reward is made from
one number z[u, t] whichever arm is played, and policies that draw the same kind of random
numbers draw the same ones. Differences between policies then have a small variance.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.errors import LobError, LobInputError
from lobandits.simulation.failures import SimulationError, Stopped
from lobandits.simulation.moments import BATCH, empty_blocks, sum_up_blocks
from lobandits.simulation.problems import Environment, Problems
from lobandits.simulation.rewards import pay
from lobandits.simulation.specs import Spec, build
from lobandits.simulation.streams import BLOCK, Noise, Stream, standard_normal


@dataclass(frozen=True)
class Chunk:
    """A part of a run that any worker can do: users ``first`` to ``first + n_users - 1``.

    ``horizon`` is what policies are told; ``rounds`` are played.
    """

    env: Environment
    specs: Mapping[str, Spec]
    seed: int
    first: int
    n_users: int
    horizon: int
    rounds: int
    keep_users: bool


@dataclass
class Outcome:
    """What one policy did in a chunk.

    ``blocks`` has the moments of each block of users, ``totals`` each user's cumulative
    regret, ``regret`` every user and round if users are kept, else no rounds.
    """

    blocks: FloatArray
    totals: FloatArray
    regret: FloatArray
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True)
class Control:
    """How the run's owner, in the same process, stops its chunks and follows them."""

    stop: Event = field(default_factory=Event)
    advance: Callable[[int], None] = lambda decisions: None


def run_chunk(chunk: Chunk, control: Control | None = None) -> dict[str, Outcome]:
    """Play all rounds of a chunk; return each policy's outcome by label."""
    control = control or Control()
    problems = _sampled(chunk)
    lanes = [Lane(label, spec, chunk, problems) for label, spec in chunk.specs.items()]
    shocks = Noise(standard_normal, chunk.seed, Stream.REWARDS, chunk.first, chunk.n_users)
    for start in range(0, chunk.rounds, BATCH):
        batch = shocks.rounds(min(BATCH, chunk.rounds - start))
        for lane in lanes:
            lane.play(batch, start, control.stop)
            control.advance(batch.size)
    return {lane.label: lane.outcome for lane in lanes}


def _sampled(chunk: Chunk) -> Problems:
    """Return the chunk's problems; kernels trust that there are as many as it has users."""
    problems = chunk.env.sample(chunk.n_users, chunk.seed, chunk.first)
    if not isinstance(problems, Problems) or problems.n_users != chunk.n_users:
        raise LobInputError(
            f"sample({chunk.n_users}, {chunk.seed}, {chunk.first}) of the environment must return "
            f"Problems of {chunk.n_users} users, got {problems!r}"
        )
    return problems


class Lane:
    """One policy with the state of a chunk's users."""

    def __init__(self, label: str, spec: Spec, chunk: Chunk, problems: Problems) -> None:
        self.label = label
        self.first = chunk.first
        self.problems = problems
        self.now = 0
        self.numbers: Any = None
        self.played: tuple[IntArray, FloatArray] | None = None
        n = problems.n_users
        self.outcome = Outcome(
            blocks=empty_blocks(n, chunk.rounds),
            totals=np.zeros(n),
            regret=np.zeros((n, chunk.rounds if chunk.keep_users else 0)),
        )
        with _Clock(self.outcome):
            self._make(spec, chunk.horizon)
        self.noise = Noise(self.policy.draw, chunk.seed, Stream.CHOICES, chunk.first, n)

    def _make(self, spec: Spec, horizon: int) -> None:
        n = self.problems.n_users
        try:
            self.policy = build(self.label, spec, self.problems, horizon)
            self.state = self.policy.start(n)
            if self.state.n_users != n:
                raise ValueError(f"start({n}) made a state of {self.state.n_users} users")
        except LobError:
            raise
        except Exception as error:
            raise SimulationError(self.label, None, 0, _words(error)) from error

    def play(self, shocks: FloatArray, start: int, stop: Event) -> None:
        """Play the rounds from ``start``, one for each row of ``shocks``."""
        outcome, self.now = self.outcome, start
        try:
            with _Clock(outcome):
                regret = self._rounds(shocks, stop)
        except (Stopped, SimulationError):
            raise
        except Exception as error:
            guilty, now = self._guilty(), self.now + 1
            raise SimulationError(self.label, guilty, now, _words(error)) from error
        sum_up_blocks(regret, outcome.totals, outcome.blocks, start, BLOCK)
        if outcome.regret.size:
            outcome.regret[:, start : start + len(shocks)] = regret.T

    def _rounds(self, shocks: FloatArray, stop: Event) -> FloatArray:
        policy, state, problems, n = self.policy, self.state, self.problems, self.problems.n_users
        users, rewards, regret = np.arange(n), np.empty(n), np.empty(shocks.shape)
        lowest, highest = problems.bounds or (-np.inf, np.inf)
        given = (problems.noise_location, problems.gaps, problems.sigma, lowest, highest)
        binary = problems.rewards == "bernoulli"
        for shock, numbers, row in zip(shocks, self.noise.rounds(len(shocks)), regret, strict=True):
            if stop.is_set():
                raise Stopped
            self.numbers, self.played = numbers, None
            arms = policy.decide(state, numbers)
            if not isinstance(arms, np.ndarray) or arms.shape != (n,) or arms.dtype != np.int64:
                raise TypeError(f"decide() must return int64 of shape ({n},), got {arms!r}")
            illegal = pay(arms, shock, *given, binary, rewards, row)
            if illegal >= 0:
                raise self._illegal(arms, illegal)
            self.played = arms, rewards
            policy.absorb(state, users, arms, rewards)
            self.now += 1
        return regret

    def _illegal(self, arms: IntArray, user: int) -> SimulationError:
        what = f"chose arm {arms[user]}, but the arms are 0 to {self.problems.n_arms - 1}"
        return SimulationError(self.label, self.first + user, self.now + 1, what)

    def _guilty(self) -> int | None:
        """Return the first user for whom the step that failed fails alone, if any."""
        for user in range(0 if self.numbers is None else self.problems.n_users):
            one = slice(user, user + 1)
            try:
                alone, policy = self.state.take([user]), self.policy.take([user])
                if self.played is None:
                    policy.decide(alone, self.numbers[one])
                else:
                    arms, rewards = self.played
                    policy.absorb(alone, np.zeros(1, np.int64), arms[one], rewards[one])
            except Exception:
                return self.first + user
        return None


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


class _Clock:
    """Adds the wall and CPU time of a block of code, in this thread, to an outcome."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def __enter__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.thread_time()

    def __exit__(self, *error: object) -> None:
        self.outcome.seconds += time.perf_counter() - self.wall
        self.outcome.cpu_seconds += time.thread_time() - self.cpu
