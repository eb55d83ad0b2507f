"""The call that compares policies on an environment."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import closing
from typing import Any, Literal

import numpy as np

from lobandits.basics.checks import one_of, whole
from lobandits.basics.progress import progress_bar
from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.simulation.chunk import (
    Chunk,
    Control,
    even_size,
    outcomes_in_order,
    warm_up,
    worker_pool,
)
from lobandits.simulation.moments import Moments
from lobandits.simulation.policy_run import Outcome, SimulationInterrupted, policy_class
from lobandits.simulation.problems import Environment, Problems
from lobandits.simulation.result import Result

Spec = str | Policy | Callable[[Problems], Policy]


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
        Dask's.
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
    >>> from lobandits.simulation import Synthetic
    >>> result = simulate(Synthetic(n_arms=4, n_states=3), ["ucb", "ts"], horizon=50, n_users=16)
    >>> result.regret["ucb"].shape
    (16, 50)
    """
    if isinstance(env, type) or not isinstance(env, Environment):
        raise LobInputError(f"env must have a method sample(n, seed, first), got {env!r}")
    if not isinstance(executor, Executor | None):
        raise LobInputError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
    horizon = whole("horizon", horizon)
    run = Chunk(
        env=env,
        specs=label_specs(policies),
        horizon=horizon,
        rounds=horizon,
        n_users=whole("n_users", n_users),
        seed=whole("seed", seed, least=0),
        keep=one_of("keep", keep, ("all", "mean")),
    )
    workers = whole("workers", (os.cpu_count() or 1) if workers is None else workers)
    chunk_size = None if chunk_size is None else whole("chunk_size", chunk_size)
    return _run(run, workers, executor, progress, chunk_size)


def _run(
    run: Chunk,
    workers: int,
    executor: Executor | None,
    progress: bool | Callable[[int], None],
    chunk_size: int | None,
) -> Result:
    """Play the run's chunks, and add up their outcomes in order."""
    began = time.perf_counter()
    result, n_done = _empty_result(run), 0
    try:
        size = even_size(warm_up(run), run.n_users, workers, chunk_size)
        compiled = time.perf_counter()
        with (
            progress_bar(run.n_decisions, progress, "simulating", "decisions") as advance,
            worker_pool(executor, workers) as pool,
            closing(
                outcomes_in_order(pool, run.parts(size), 2 * workers, Control(advance))
            ) as found,
        ):
            for outcomes in found:
                n_done = _collect(result, outcomes, n_done)
    except KeyboardInterrupt:
        done = f"{n_done} of {run.n_users} users were finished"
        spent = f"after {time.perf_counter() - began:.1f} s"
        raise SimulationInterrupted(f"stopped {spent}: {done}, nothing was kept") from None
    # workers do the policies in turns: a policy's wall time is its share of the run's
    share = (time.perf_counter() - compiled) / max(sum(result.seconds.values()), 1e-12)
    for label in result.policies:
        result.seconds[label] *= share
    return result


def _empty_result(run: Chunk) -> Result:
    """Return a result with room for all users and rounds."""
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


def label_specs(policies: Any) -> dict[str, Any]:
    """Return what each label stands for; names are their own labels."""
    if isinstance(policies, (str, Policy)) or not isinstance(policies, Iterable):
        raise LobInputError(f"policies must be a list or a mapping, got {policies!r}")
    pairs = (
        policies.items()
        if isinstance(policies, Mapping)
        else ((_name(spec), spec) for spec in policies)
    )
    specs: dict[str, Any] = {}
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


def _name(spec: Any) -> str:
    if isinstance(spec, (str, Policy)):
        return spec if isinstance(spec, str) else str(spec.name)
    raise LobInputError(
        f"{spec!r} is neither a policy nor the name of one; "
        "give functions a label: {'mine': function}"
    )


def _check(label: object, spec: object) -> None:
    if not isinstance(label, str) or label in ("", "user", "round"):
        raise LobInputError(f"{label!r} cannot label a policy; use any string but 'user', 'round'")
    if isinstance(spec, str):
        policy_class(spec)
    elif not isinstance(spec, Policy) and not callable(spec):
        raise LobInputError(f"policy {label!r} must be a name, a policy or a function: {spec!r}")
