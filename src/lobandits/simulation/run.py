"""One call compares policies on an environment: threads, processes or a cluster."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from lobandits._checks import one_of, whole
from lobandits._progress import progress_bar
from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.simulation.collect import Collector
from lobandits.simulation.execution import check_executor, outcomes_in_order, worker_pool
from lobandits.simulation.failures import SimulationInterrupted
from lobandits.simulation.problems import Environment
from lobandits.simulation.result import Result
from lobandits.simulation.runner import Chunk, Control, run_chunk
from lobandits.simulation.specs import Spec, describe, label_specs, share
from lobandits.simulation.streams import BLOCK

LARGEST_CHUNK = 512
"""Users of a chunk, at most: more would not make a round's share of Python any smaller."""
LARGEST_TABLE = 2**22
"""Numbers that a chunk may hold for all its users."""


def simulate(
    env: Environment,
    policies: Iterable[str | Policy] | Mapping[str, Spec],
    horizon: int,
    n_users: int,
    seed: int = 0,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool | Callable[[int], None] = True,
    keep: Literal["all", "mean"] = "all",
    chunk_size: int | None = None,
) -> Result:
    r"""Play every policy for every user and round; measure the regret :math:`\mu^* - \mu_{a_t}`.

    The numbers depend on ``env``, ``policies``, ``horizon``, ``n_users`` and ``seed`` alone: not
    on workers, executor or chunks. All policies meet the same users and the same noise. More
    users or rounds leave the first ones as they were (except for policies told the horizon).

    Parameters
    ----------
    env
        Where the problems come from; anything with ``sample(n, seed, first)``.
    policies
        Names, perhaps with options as in "lobts(project_every=10)", and policies; or a mapping
        from labels to names, policies, or functions that make a policy from the
        :class:`Problems` of some of the users.
    horizon
        Rounds for each user.
    n_users
        Number of users.
    seed
        Names all random numbers of the run.
    workers
        Threads; by default one for each processor. With ``executor``: how many of its workers
        to share the users between.
    executor
        Any :class:`concurrent.futures.Executor` instead of threads, such as a process pool or
        ``dask.distributed.Client.get_executor()``. Functions among ``policies`` must then be
        picklable.
    progress
        Show a progress bar, if standard error is a terminal; or a function to call with the
        number of decisions just made, from any thread.
    keep
        "all": the regret of every user in every round. "mean": only means and standard errors
        over users, and each user's total; the memory needed hardly grows with users.
    chunk_size
        Users simulated together, rounded up to a multiple of 8.

    Raises
    ------
    SimulationError
        If a policy raises an error or chooses no arm; it names the policy, user and round.
    SimulationInterrupted
        On Ctrl-C (a KeyboardInterrupt); it says what was done.

    Examples
    --------
    >>> from lobandits.simulation import Synthetic
    >>> result = simulate(Synthetic(n_arms=4, n_states=3), ["ucb", "ts"], horizon=50, n_users=16)
    >>> result.regret["ucb"].shape
    (16, 50)
    """
    run = _Run(
        env=_checked_env(env),
        specs=label_specs(policies),
        horizon=whole("horizon", horizon),
        n_users=whole("n_users", n_users),
        seed=whole("seed", seed, least=0),
        keep=one_of("keep", keep, ("all", "mean")),
    )
    check_executor(executor, run.specs)
    workers = whole("workers", (os.cpu_count() or 1) if workers is None else workers)
    chunk_size = None if chunk_size is None else whole("chunk_size", chunk_size)
    began = time.perf_counter()
    collector = run.collector()
    try:
        size = _chunk_size(run.warm_up(), run.n_users, workers, chunk_size)
        compiled = time.perf_counter()
        with (
            progress_bar(run.n_decisions, progress, "simulating", "decisions") as advance,
            worker_pool(executor, workers) as pool,
        ):
            control = Control(advance=advance)
            chunks = outcomes_in_order(pool, run.chunks(size), 2 * workers, control)
            with closing(chunks):
                for outcomes in chunks:
                    collector.add(outcomes)
    except KeyboardInterrupt:
        done = f"{collector.n_done} of {n_users} users were finished"
        spent = f"after {time.perf_counter() - began:.1f} s"
        raise SimulationInterrupted(f"stopped {spent}: {done}, nothing was kept") from None
    return collector.result(run.env, run.settings(), time.perf_counter() - compiled)


@dataclass(frozen=True)
class _Run:
    """The checked arguments that decide the numbers of a run."""

    env: Environment
    specs: dict[str, Spec]
    horizon: int
    n_users: int
    seed: int
    keep: str

    @property
    def n_decisions(self) -> int:
        return self.n_users * self.horizon * len(self.specs)

    def collector(self) -> Collector:
        """Return room for all that is kept, or say that there is none."""
        try:
            return Collector(self.specs, self.horizon, self.n_users, self.keep == "all")
        except (MemoryError, ValueError):  # NumPy's words for much and for far too much
            advice = "keep='mean' needs less" if self.keep == "all" else "ask for less"
            raise LobInputError(
                f"no memory for the regret of {self.n_users:,} users in {self.horizon:,} rounds; "
                f"{advice}"
            ) from None

    def warm_up(self) -> int:
        """Play two rounds of one block: compile, fail early; return numbers held per user.

        These are the orders or means of all states, or the moments of regret.
        """
        n = min(BLOCK, self.n_users)
        run_chunk(self.chunk(0, n, rounds=min(2, self.horizon)))
        orders = self.env.sample(n, self.seed).orders
        return max(orders.n_states * orders.n_arms, len(self.specs) * self.horizon // 2)

    def chunks(self, size: int) -> Iterator[Chunk]:
        for first in range(0, self.n_users, size):
            yield self.chunk(first, min(size, self.n_users - first), self.horizon)

    def chunk(self, first: int, n: int, rounds: int) -> Chunk:
        specs = {label: share(label, spec, first, n) for label, spec in self.specs.items()}
        keep = self.keep == "all"
        return Chunk(self.env, specs, self.seed, first, n, self.horizon, rounds, keep)

    def settings(self) -> dict[str, Any]:
        return {
            "environment": repr(self.env),
            "policies": {label: describe(spec) for label, spec in self.specs.items()},
            "horizon": self.horizon,
            "n_users": self.n_users,
            "seed": self.seed,
            "keep": self.keep,
        }


def _checked_env(env: Environment) -> Environment:
    if isinstance(env, type) or not isinstance(env, Environment):
        raise LobInputError(f"env must have a method sample(n, seed, first), got {env!r}")
    return env


def _chunk_size(numbers: int, n_users: int, workers: int, wanted: int | None) -> int:
    """Return a multiple of 8 that shares the users evenly and bounds each chunk's memory.

    ``numbers`` are held for each user.
    """
    if wanted is not None:
        return -(-wanted // BLOCK) * BLOCK
    most = max(BLOCK, min(LARGEST_CHUNK, LARGEST_TABLE // numbers))
    turns = -(-n_users // (most * workers))
    return -(-n_users // (workers * turns * BLOCK)) * BLOCK
