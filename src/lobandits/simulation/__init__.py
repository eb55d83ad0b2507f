"""Environments, and the one call that compares policies on them: threads, processes or a cluster.

``MovieLens`` is in `movielens` alone: it brings what learning needs.
"""

import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import islice
from typing import Literal

import numpy as np

from lobandits._checks import one_of, whole
from lobandits._progress import progress_bar
from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.policies.registry import parse_name
from lobandits.simulation.blocks import Curve, Moments
from lobandits.simulation.problems import Environment, FixedProblems, Problems
from lobandits.simulation.result import Difference, Result
from lobandits.simulation.runner import (
    Chunk,
    Control,
    Outcome,
    SimulationError,
    Spec,
    even_size,
    run_chunk,
    warm_up,
)
from lobandits.simulation.synthetic import Synthetic

__all__ = [
    "Curve",
    "Difference",
    "Environment",
    "FixedProblems",
    "Problems",
    "Result",
    "SimulationError",
    "SimulationInterrupted",
    "Synthetic",
    "simulate",
]

PATIENCE = 0.2  # seconds between looks for Ctrl-C, where waiting for a lock hides it
Pending = Future[dict[str, Outcome]]


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C: the message says how far the run had come."""


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

    The numbers depend on the first five parameters alone. All policies meet the same users and
    the same noise.

    Parameters
    ----------
    env
        Where the problems come from; anything with ``sample(n, seed, first)``.
    policies
        Names, perhaps with options as in "lobts(project_every=10)", and policies; or a mapping
        from labels to these, or to functions that make a policy from :class:`Problems`.
    horizon, n_users, seed
        Rounds for each user, number of users, and what names all random numbers.
    workers
        Threads, by default one for each processor; or how many workers of ``executor`` there are.
    executor
        Any :class:`concurrent.futures.Executor` instead of threads, such as a process pool or
        Dask's. Functions among ``policies`` must then be picklable.
    progress
        Show a progress bar, if standard error is a terminal; or call this function, from any
        thread, with the number of decisions just made.
    keep
        "all": the regret of every user in every round. "mean": means and standard errors over
        users, and each user's total.
    chunk_size
        Users simulated together, rounded up to a multiple of 8.

    Examples
    --------
    >>> result = simulate(Synthetic(n_arms=4, n_states=3), ["ucb", "ts"], horizon=50, n_users=16)
    >>> result.regret["ucb"].shape
    (16, 50)
    """
    if isinstance(env, type) or not isinstance(env, Environment):
        raise LobInputError(f"env must have a method sample(n, seed, first), got {env!r}")
    horizon = whole("horizon", horizon)
    run = Chunk(
        env=env,
        specs=_label_specs(policies),
        horizon=horizon,
        rounds=horizon,
        n_users=whole("n_users", n_users),
        seed=whole("seed", seed, least=0),
        keep=one_of("keep", keep, ("all", "mean")),
    )
    _check_executor(executor, run.specs)
    workers = whole("workers", (os.cpu_count() or 1) if workers is None else workers)
    chunk_size = None if chunk_size is None else whole("chunk_size", chunk_size)
    began = time.perf_counter()
    result, n_done = _room(run), 0
    try:
        size = even_size(warm_up(run), run.n_users, workers, chunk_size)
        compiled = time.perf_counter()
        with (
            progress_bar(run.n_decisions, progress, "simulating", "decisions") as advance,
            _pool(executor, workers) as pool,
            closing(_outcomes(pool, run.parts(size), 2 * workers, Control(advance))) as found,
        ):
            for outcomes in found:
                n_done = _collect(result, outcomes, n_done)
    except KeyboardInterrupt:
        done = f"{n_done} of {n_users} users were finished"
        spent = f"after {time.perf_counter() - began:.1f} s"
        raise SimulationInterrupted(f"stopped {spent}: {done}, nothing was kept") from None
    # workers do the policies in turns: a policy's wall time is its share of the run's
    share = (time.perf_counter() - compiled) / max(sum(result.seconds.values()), 1e-12)
    for label in result.policies:
        result.seconds[label] *= share
    return result


def _label_specs(policies: Iterable[str | Policy] | Mapping[str, Spec]) -> dict[str, Spec]:
    if isinstance(policies, str | Policy) or not isinstance(policies, Iterable):
        raise LobInputError(f"policies must be a list or a mapping, got {policies!r}")
    pairs = policies.items() if isinstance(policies, Mapping) else map(_named, policies)
    specs: dict[str, Spec] = {}
    for label, spec in pairs:
        if label in specs:
            raise LobInputError(
                f"two policies are called {label!r}; give a mapping with other labels"
            )
        _check(label, spec)
        specs[label] = spec
    if not specs:
        raise LobInputError("policies is empty; name at least one, for example ['lobts']")
    return specs


def _named(spec: object) -> tuple[str, Spec]:
    if isinstance(spec, str):
        return spec, spec
    if isinstance(spec, Policy):
        return spec.name, spec
    raise LobInputError(
        f"{spec!r} is neither a policy nor the name of one; "
        "give functions a label: {'mine': function}"
    )


def _check(label: object, spec: object) -> None:
    if not isinstance(label, str) or label in ("", "user", "round"):
        raise LobInputError(f"{label!r} cannot label a policy; use any string but 'user', 'round'")
    if isinstance(spec, str):
        parse_name(spec)
    elif not isinstance(spec, Policy) and not callable(spec):
        raise LobInputError(f"policy {label!r} must be a name, a policy or a function: {spec!r}")


def _check_executor(executor: Executor | None, specs: Mapping[str, Spec]) -> None:
    if not isinstance(executor, Executor | None):
        raise LobInputError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
    if not isinstance(executor, ProcessPoolExecutor):
        return
    for label, spec in specs.items():
        try:
            pickle.dumps(spec)
        except Exception as error:
            raise LobInputError(
                f"policy {label!r} cannot be sent to another process ({error}); "
                "define its function at the top level of a module"
            ) from None


def _pool(executor: Executor | None, workers: int) -> AbstractContextManager[Executor]:
    if executor is not None:
        return nullcontext(executor)
    return ThreadPoolExecutor(workers, thread_name_prefix="lob-simulate")


def _room(run: Chunk) -> Result:
    n, horizon, labels = run.n_users, run.horizon, list(run.specs)
    settings = {
        "environment": repr(run.env),
        "policies": {
            label: spec if isinstance(spec, str) else getattr(spec, "__qualname__", repr(spec))
            for label, spec in run.specs.items()
        },
        "horizon": horizon,
        "n_users": n,
        "seed": run.seed,
        "keep": run.keep,
    }
    try:
        return Result(
            settings=settings,
            totals={label: np.zeros(n) for label in labels},
            moments={label: Moments.empty(horizon) for label in labels},
            seconds=dict.fromkeys(labels, 0.0),
            cpu_seconds=dict.fromkeys(labels, 0.0),
            users={p: np.zeros((n, horizon)) for p in labels} if run.keep == "all" else None,
            env=run.env,
        )
    except (MemoryError, ValueError):  # NumPy's words for much and for far too much
        advice = "keep='mean' needs less" if run.keep == "all" else "ask for less"
        raise LobInputError(
            f"no memory for the regret of {n:,} users in {horizon:,} rounds; {advice}"
        ) from None


def _collect(result: Result, outcomes: Mapping[str, Outcome], n_done: int) -> int:
    """Add the chunk of users from ``n_done`` on; return how many are done now."""
    for label, outcome in outcomes.items():
        n = len(outcome.totals)
        result.totals[label][n_done : n_done + n] = outcome.totals
        result.moments[label].add(outcome.blocks, n)
        if result.users is not None:
            result.users[label][n_done : n_done + n] = outcome.regret
        result.seconds[label] += outcome.seconds
        result.cpu_seconds[label] += outcome.cpu_seconds
    return n_done + n


def _outcomes(
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
    future = pool.submit(run_chunk, chunk)
    future.add_done_callback(lambda _: control.advance(chunk.n_decisions))
    return future


def _wait_for_next(pending: deque[Pending]) -> None:
    """Wait until some chunk is done; raise the first error of any."""
    running = [future for future in pending if not future.done()]
    while running and running[0] is pending[0]:
        if wait(running, timeout=PATIENCE, return_when=FIRST_COMPLETED).done:
            break
    for future in pending:
        if future.done() and (error := future.exception()) is not None:
            raise error
