"""One chunk of users: every policy, every round, in this thread.

A reward is made from one number z[u, t] whichever arm is played, and policies that draw alike draw
the same numbers: so differences between policies have a small variance.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from threading import Event
from typing import Any, cast

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.errors import LobError, LobInputError
from lobandits.policies import POLICIES, Policy, make_policy
from lobandits.policies.registry import parse_name
from lobandits.simulation.blocks import (
    BATCH,
    BLOCK,
    Noise,
    Stream,
    empty_blocks,
    pay,
    sum_up_blocks,
)
from lobandits.simulation.problems import Environment, Problems

Spec = str | Policy | Callable[[Problems], Policy]
LARGEST_CHUNK = 512  # users: more would not make a round's share of Python any smaller
LARGEST_TABLE = 2**22  # numbers that a chunk may hold for all its users


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


@dataclass(frozen=True)
class Chunk:
    """A run, or a part of it that any worker can do: users from ``first`` on.

    ``horizon`` is what policies are told; ``rounds`` are played.
    """

    env: Environment
    specs: Mapping[str, Spec]
    horizon: int
    rounds: int
    n_users: int
    seed: int
    keep: str
    first: int = 0

    @property
    def n_decisions(self) -> int:
        """How many arms are chosen."""
        return self.n_users * self.rounds * len(self.specs)

    def part(self, first: int, n_users: int, rounds: int) -> "Chunk":
        """Return what some users do in the first ``rounds``."""
        specs = {label: _share(label, spec, first, n_users) for label, spec in self.specs.items()}
        return replace(self, specs=specs, first=first, n_users=n_users, rounds=rounds)

    def parts(self, size: int) -> Iterator["Chunk"]:
        """Yield chunks of at most ``size`` users."""
        for first in range(0, self.n_users, size):
            yield self.part(first, min(size, self.n_users - first), self.rounds)


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


@dataclass(frozen=True)
class Control:
    """How the run's owner, in the same process, stops and follows its chunks."""

    advance: Callable[[int], None] = lambda decisions: None
    stop: Event = field(default_factory=Event)


def run_chunk(chunk: Chunk, control: Control | None = None) -> dict[str, Outcome]:
    """Play all rounds of a chunk; return each policy's outcome by label."""
    control = control or Control()
    problems = _sampled(chunk)
    lanes = [Lane(label, spec, chunk, problems) for label, spec in chunk.specs.items()]
    normal = np.random.Generator.standard_normal
    shocks = Noise(normal, chunk.seed, Stream.REWARDS, chunk.first, chunk.n_users)
    for start in range(0, chunk.rounds, BATCH):
        batch = shocks.rounds(min(BATCH, chunk.rounds - start))
        for lane in lanes:
            lane.play(batch, start, control.stop)
            control.advance(batch.size)
    return {lane.label: lane.outcome for lane in lanes}


def _sampled(chunk: Chunk) -> Problems:
    """Return the chunk's problems: kernels trust that there is one for each user."""
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
            regret=np.zeros((n, chunk.rounds if chunk.keep == "all" else 0)),
        )
        try:
            with _clock(self.outcome):
                self.policy = _build(label, spec, problems, chunk.horizon)
                self.state = self.policy.start(n)
            if self.state.n_users != n:
                raise ValueError(f"start({n}) made a state of {self.state.n_users} users")
        except LobError:
            raise
        except Exception as error:
            raise SimulationError(label, None, 0, _words(error)) from error
        self.noise = Noise(self.policy.draw, chunk.seed, Stream.CHOICES, chunk.first, n)

    def play(self, shocks: FloatArray, start: int, stop: Event) -> None:
        """Play the rounds from ``start``, one for each row of ``shocks``."""
        outcome, self.now = self.outcome, start
        try:
            with _clock(outcome):
                regret = self._rounds(shocks, stop)
        except (CancelledError, SimulationError):
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
                raise CancelledError
            self.numbers, self.played = numbers, None
            arms = policy.decide(state, numbers, policy.all_arms)
            if not isinstance(arms, np.ndarray) or arms.shape != (n,) or arms.dtype != np.int64:
                raise TypeError(f"decide() must return int64 of shape ({n},), got {arms!r}")
            illegal = pay(arms, shock, *given, binary, rewards, row)
            if illegal >= 0:
                what = f"chose arm {arms[illegal]}, but the arms are 0 to {problems.n_arms - 1}"
                raise SimulationError(self.label, self.first + illegal, self.now + 1, what)
            self.played = arms, rewards
            policy.absorb(state, users, arms, rewards)
            self.now += 1
        return regret

    def _guilty(self) -> int | None:
        """Return the first user for whom the step fails alone, if any."""
        for user in range(0 if self.numbers is None else self.problems.n_users):
            one = slice(user, user + 1)
            try:
                alone, policy = self.state.take([user]), self.policy.take([user])
                if self.played is None:
                    policy.decide(alone, self.numbers[one], policy.all_arms)
                else:
                    arms, rewards = self.played
                    policy.absorb(alone, np.zeros(1, np.int64), arms[one], rewards[one])
            except Exception:
                return self.first + user
        return None


def _share(label: str, spec: Spec, first: int, n: int) -> Spec:
    if not isinstance(spec, Policy) or spec.n_users is None:
        return spec
    if spec.n_users < first + n:
        raise LobInputError(f"policy {label!r} has parts for only {spec.n_users} users")
    return spec.take(np.arange(first, first + n))


def _build(label: str, spec: Spec, problems: Problems, horizon: int) -> Policy:
    if isinstance(spec, str):
        policy = _by_name(spec, problems, horizon)
    else:
        policy = spec if isinstance(spec, Policy) else spec(problems)
    if not isinstance(policy, Policy):
        raise LobInputError(f"the function for policy {label!r} returned {policy!r}, not a policy")
    if policy.n_arms != problems.n_arms:
        raise LobInputError(
            f"policy {label!r} has {policy.n_arms} arms, the problems have {problems.n_arms}"
        )
    return policy


def _by_name(name: str, problems: Problems, horizon: int) -> Policy:
    plain, options = parse_name(name)
    needed = {field.name for field in fields(cast("Any", POLICIES[plain]))} - set(options)
    if problems.state_means is None and "state_means" in needed:
        raise LobInputError(f"{name} needs the means of states; give the problems state_means")
    return make_policy(name, cast("Any", problems), horizon=horizon)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


@contextmanager
def _clock(outcome: Outcome) -> Iterator[None]:
    """Add the wall and CPU time of a block of code, in this thread."""
    wall, cpu = time.perf_counter(), time.thread_time()
    yield
    outcome.seconds += time.perf_counter() - wall
    outcome.cpu_seconds += time.thread_time() - cpu


def warm_up(run: Chunk) -> int:
    """Play two rounds of one block, to compile and fail early; return a user's numbers."""
    n = min(BLOCK, run.n_users)
    run_chunk(run.part(0, n, rounds=min(2, run.horizon)))
    orders = run.env.sample(n, run.seed).orders
    return max(orders.n_states * orders.n_arms, len(run.specs) * run.horizon // 2)


def even_size(numbers: int, n_users: int, workers: int, wanted: int | None) -> int:
    """Return a multiple of 8 that shares users evenly, each of whom holds so many numbers."""
    if wanted is not None:
        return -(-wanted // BLOCK) * BLOCK
    most = max(BLOCK, min(LARGEST_CHUNK, LARGEST_TABLE // numbers))
    turns = -(-n_users // (most * workers))
    return -(-n_users // (workers * turns * BLOCK)) * BLOCK
