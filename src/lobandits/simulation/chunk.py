"""A part of a run that any worker can do: some users, every policy, every round; and the workers.

A reward is made from one number z[u, t] whichever arm is played, and policies that draw alike draw
the same numbers: so differences between policies have a small variance.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Event
from typing import Any

import numpy as np

from lobandits.basics.user_code import packed, unpacked
from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.simulation.moments import BATCH
from lobandits.simulation.policy_run import Outcome, PolicyRun, policy_class
from lobandits.simulation.problems import Environment, Problems
from lobandits.simulation.streams import BLOCK, Noise, Stream

LARGEST_CHUNK = 512  # users: more would not make a round's share of Python any smaller
LARGEST_TABLE = 2**22  # numbers that a chunk may hold for all its users
PATIENCE = 0.2  # seconds between looks for Ctrl-C, where waiting for a lock hides it
Pending = Future[dict[str, Outcome]]


@dataclass(frozen=True)
class Chunk:
    """A run, or a part of it: users from ``first`` on.

    ``specs`` are what plays, by label. ``horizon`` is what policies are told; ``rounds`` are
    played.
    """

    env: Environment
    specs: Mapping[str, Any]
    horizon: int
    rounds: int
    n_users: int
    seed: int
    keep: str
    first: int = 0

    @property
    def n_decisions(self) -> int:
        """How many choices are made."""
        return self.n_users * self.rounds * len(self.specs)

    def part(self, first: int, n_users: int, rounds: int) -> "Chunk":
        """Return what some users do in the first ``rounds``."""
        specs = {
            label: take_users(label, spec, first, n_users) if isinstance(spec, Policy) else spec
            for label, spec in self.specs.items()
        }
        return replace(self, specs=specs, first=first, n_users=n_users, rounds=rounds)

    def parts(self, size: int) -> Iterator["Chunk"]:
        """Yield chunks of at most ``size`` users."""
        for first in range(0, self.n_users, size):
            yield self.part(first, min(size, self.n_users - first), self.rounds)


def take_users(label: str, policy: Any, first: int, n: int) -> Any:
    """Return the policy of the users ``first`` to ``first + n - 1``."""
    if policy.n_users is None:
        return policy
    if policy.n_users < first + n:
        raise LobInputError(f"policy {label!r} has parts for only {policy.n_users} users")
    return policy.take(np.arange(first, first + n))


def even_size(numbers: int, n_users: int, workers: int, wanted: int | None) -> int:
    """Return a multiple of 8 that shares users evenly, each of whom holds so many numbers."""
    if wanted is not None:
        return -(-wanted // BLOCK) * BLOCK
    most = max(BLOCK, min(LARGEST_CHUNK, LARGEST_TABLE // numbers))
    turns = -(-n_users // (most * workers))
    return -(-n_users // (workers * turns * BLOCK)) * BLOCK


@dataclass(frozen=True)
class Control:
    """How the run's owner, in the same process, stops and follows its chunks."""

    advance: Callable[[int], None] = lambda decisions: None
    stop: Event = field(default_factory=Event)


def run_chunk(chunk: Chunk, control: Control | None = None) -> dict[str, Outcome]:
    """Play all rounds of a chunk; return each policy's outcome by label."""
    control = control or Control()
    problems = _sampled(chunk)
    runs = [PolicyRun(label, spec, chunk, problems) for label, spec in chunk.specs.items()]
    normal = np.random.Generator.standard_normal
    shocks = Noise(normal, chunk.seed, Stream.REWARDS, chunk.first, chunk.n_users)
    for start in range(0, chunk.rounds, BATCH):
        batch = shocks.rounds(min(BATCH, chunk.rounds - start))
        for run in runs:
            run.play(batch, start, control.stop)
            control.advance(batch.size)
    return {run.label: run.outcome for run in runs}


def _sampled(chunk: Chunk) -> Problems:
    """Return the chunk's problems: kernels trust that there is one for each user."""
    problems = chunk.env.sample(chunk.n_users, chunk.seed, chunk.first)
    if not isinstance(problems, Problems) or problems.n_users != chunk.n_users:
        raise LobInputError(
            f"sample({chunk.n_users}, {chunk.seed}, {chunk.first}) of the environment must return "
            f"Problems of {chunk.n_users} users, got {problems!r}"
        )
    return problems


def warm_up(run: Chunk) -> int:
    """Play two rounds of one block, to compile and fail early; return a user's numbers."""
    n = min(BLOCK, run.n_users)
    run_chunk(run.part(0, n, rounds=min(2, run.horizon)))
    problems = run.env.sample(n, run.seed)
    return max(problems.n_states * problems.n_arms, len(run.specs) * run.horizon // 2)


def worker_pool(executor: Executor | None, workers: int) -> AbstractContextManager[Executor]:
    """Return the executor given, which stays open, or threads of our own."""
    if executor is not None:
        return nullcontext(executor)
    return ThreadPoolExecutor(workers, thread_name_prefix="lob-simulate")


def outcomes_in_order(
    pool: Executor, chunks: Iterator[Chunk], window: int, control: Control
) -> Generator[dict[str, Outcome], None, None]:
    """Yield outcomes in order, of at most ``window`` chunks under way; an early end stops them."""
    pending: deque[Pending] = deque()
    try:
        while True:
            for chunk in islice(chunks, window - len(pending)):
                pending.append(_submit(pool, chunk, control))
            if not pending:
                return
            _wait_for_next(pending)
            while pending and pending[0].done():
                yield pending.popleft().result()
    finally:
        control.stop.set()
        for future in pending:
            future.cancel()


def _submit(pool: Executor, chunk: Chunk, control: Control) -> Pending:
    """Start a chunk; only threads share ``control``, others report when they are done."""
    if isinstance(pool, ThreadPoolExecutor):
        return pool.submit(run_chunk, chunk, control)
    named = [policy_class(spec) for spec in chunk.specs.values() if isinstance(spec, str)]
    future = pool.submit(_run_packed, packed(chunk, named))
    future.add_done_callback(lambda _: control.advance(chunk.n_decisions))
    return future


def _run_packed(data: bytes) -> dict[str, Outcome]:
    return run_chunk(unpacked(data))


def _wait_for_next(pending: deque[Pending]) -> None:
    """Wait until some chunk is done; raise the first error of any."""
    running = [future for future in pending if not future.done()]
    while running and running[0] is pending[0]:
        wait(running, timeout=PATIENCE, return_when=FIRST_COMPLETED)
        if any(future.done() for future in running):  # `wait` does not see those cancelled
            break
    for future in pending:
        if future.done() and (error := future.exception()) is not None:
            raise error
