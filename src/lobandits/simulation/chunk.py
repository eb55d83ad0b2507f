"""A part of a run that any worker can do: some users, every policy, every round.

A reward is made from one number z[u, t] whichever arm is played, and policies that draw alike draw
the same numbers: so differences between policies have a small variance.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._imports import Code
from lobandits.errors import LobInputError
from lobandits.simulation.moments import BATCH
from lobandits.simulation.policy_specs import take_users
from lobandits.simulation.problems import Environment, Problems
from lobandits.simulation.streams import BLOCK, Noise, Stream

if TYPE_CHECKING:
    from lobandits.simulation.policy_run import Outcome, PolicyRun


LARGEST_CHUNK = 512  # users: more would not make a round's share of Python any smaller
LARGEST_TABLE = 2**22  # numbers that a chunk may hold for all its users


@dataclass(frozen=True)
class Chunk:
    """A run, or a part of it: users from ``first`` on.

    ``code`` comes first: in another process the rest can be unpickled after it. ``play`` says what
    a round is; ``specs`` what plays, by label. ``horizon`` is what policies are told; ``rounds``
    are played.
    """

    code: Code
    play: "type[PolicyRun]"
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
            label: take_users(label, spec, first, n_users)
            if isinstance(spec, self.play.policy_type)
            else spec
            for label, spec in self.specs.items()
        }
        return replace(self, specs=specs, first=first, n_users=n_users, rounds=rounds)

    def parts(self, size: int) -> Iterator["Chunk"]:
        """Yield chunks of at most ``size`` users."""
        for first in range(0, self.n_users, size):
            yield self.part(first, min(size, self.n_users - first), self.rounds)


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


def run_chunk(chunk: Chunk, control: Control | None = None) -> "dict[str, Outcome]":
    """Play all rounds of a chunk; return each policy's outcome by label."""
    control = control or Control()
    if chunk.code.failure:
        raise LobInputError(
            f"a worker cannot import what defines the policies: {chunk.code.failure}; install it "
            "there, too"
        )
    problems = _sampled(chunk)
    runs = [chunk.play(label, spec, chunk, problems) for label, spec in chunk.specs.items()]
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
    orders = run.env.sample(n, run.seed).orders
    return max(orders.n_states * orders.n_arms, len(run.specs) * run.horizon // 2)
