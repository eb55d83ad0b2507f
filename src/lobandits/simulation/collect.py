"""Putting a run's chunks together, in order, as they arrive."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lobandits.simulation.moments import Moments
from lobandits.simulation.problems import Environment
from lobandits.simulation.result import Result
from lobandits.simulation.runner import Outcome


class Collector:
    """The part of a run that is done: the users 0 to ``n_done - 1``."""

    def __init__(self, labels: Iterable[str], horizon: int, n_users: int, keep_users: bool) -> None:
        self.labels = tuple(labels)
        self.n_done = 0
        rounds = horizon if keep_users else 0
        self.regret = {label: np.zeros((n_users, rounds)) for label in self.labels}
        self.totals = {label: np.zeros(n_users) for label in self.labels}
        self.moments = {label: Moments.empty(horizon) for label in self.labels}
        self.busy = dict.fromkeys(self.labels, 0.0)
        self.cpu_seconds = dict.fromkeys(self.labels, 0.0)

    def add(self, outcomes: Mapping[str, Outcome]) -> None:
        """Add the next chunk of users."""
        n = len(next(iter(outcomes.values())).totals)
        users = slice(self.n_done, self.n_done + n)
        for label, outcome in outcomes.items():
            self.regret[label][users] = outcome.regret
            self.totals[label][users] = outcome.totals
            self.moments[label].add(outcome.blocks, n)
            self.busy[label] += outcome.seconds
            self.cpu_seconds[label] += outcome.cpu_seconds
        self.n_done += n

    def result(self, env: Environment, settings: dict[str, Any], elapsed: float) -> Result:
        """Return the result of a finished run that took ``elapsed`` seconds after compiling.

        Workers do the policies in turns: a policy's wall time is its share of the run's.
        """
        share = elapsed / max(sum(self.busy.values()), 1e-12)
        return Result(
            settings=settings,
            totals=self.totals,
            moments=self.moments,
            seconds={label: busy * share for label, busy in self.busy.items()},
            cpu_seconds=self.cpu_seconds,
            users=self.regret if settings["keep"] == "all" else None,
            env=env,
        )
