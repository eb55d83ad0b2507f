"""Playing a chunk in this thread.

A reward is made from one number z[u, t] whichever arm is played, and policies that draw alike draw
the same numbers: so differences between policies have a small variance.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

import numpy as np

from lobandits.errors import LobInputError
from lobandits.simulation.chunk import Chunk
from lobandits.simulation.moments import BATCH
from lobandits.simulation.policy_run import Outcome
from lobandits.simulation.problems import Problems
from lobandits.simulation.streams import BLOCK, Noise, Stream


@dataclass(frozen=True)
class Control:
    """How the run's owner, in the same process, stops and follows its chunks."""

    advance: Callable[[int], None] = lambda decisions: None
    stop: Event = field(default_factory=Event)


def run_chunk(chunk: Chunk, control: Control | None = None) -> dict[str, Outcome]:
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
