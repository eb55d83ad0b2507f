"""One policy with the state of a chunk's users: what it plays, what that costs, who fails."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any, ClassVar

import numpy as np

from lobandits._checks import FloatArray
from lobandits.errors import LobError, LobInputError
from lobandits.simulation.chunk import Chunk
from lobandits.simulation.errors import SimulationError
from lobandits.simulation.moments import empty_blocks, sum_up_blocks
from lobandits.simulation.problems import Problems
from lobandits.simulation.streams import BLOCK


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


class PolicyRun(ABC):
    """Plays round after round; subclasses say which policies there are, and what a round is."""

    policy_type: ClassVar[type[Any]]
    settings: ClassVar[Mapping[str, Any]] = {}  # what a result says of the rounds

    def __init__(self, label: str, spec: Any, chunk: Chunk, problems: Problems) -> None:
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
                self.start(self._build(spec))
        except LobError:
            raise
        except Exception as error:
            raise SimulationError(label, None, 0, _words(error)) from error

    @staticmethod
    @abstractmethod
    def named(name: str) -> type[Any]:
        """Return the class of that name; refuse a name, or options, that cannot be read."""

    @staticmethod
    @abstractmethod
    def make(name: str, problems: Problems, horizon: int) -> Any:
        """Return the policy of that name for these problems."""

    @abstractmethod
    def start(self, policy: Any) -> None:
        """Give all users a state without plays."""

    @abstractmethod
    def rounds(self, shocks: FloatArray, stop: Event) -> FloatArray:
        """Play a round for each row of ``shocks``, and count it in ``now``; return its regret."""

    def guilty(self) -> int | None:
        """Return the first user for whom the step that failed fails alone, if any."""
        return None

    def play(self, shocks: FloatArray, start: int, stop: Event) -> None:
        """Play the rounds from ``start``, one for each row of ``shocks``."""
        outcome, self.now = self.outcome, start
        try:
            with _stopwatch(outcome):
                regret = self.rounds(shocks, stop)
        except (CancelledError, SimulationError):
            raise
        except Exception as error:
            guilty, now = self.guilty(), self.now + 1
            raise SimulationError(self.label, guilty, now, _words(error)) from error
        sum_up_blocks(regret, outcome.totals, outcome.blocks, start, BLOCK)
        if outcome.regret.size:
            outcome.regret[:, start : start + len(shocks)] = regret.T

    def _build(self, spec: Any) -> Any:
        """Return the policy that plays: the one given, named or made by a function."""
        label, problems = self.label, self.problems
        if isinstance(spec, str):
            policy = self.make(spec, problems, self.chunk.horizon)
        else:
            policy = spec if isinstance(spec, self.policy_type) else spec(problems)
        if not isinstance(policy, self.policy_type):
            raise LobInputError(
                f"the function for policy {label!r} returned {policy!r}, not a policy"
            )
        if policy.n_arms != problems.n_arms:
            raise LobInputError(
                f"policy {label!r} has {policy.n_arms} arms, the problems have {problems.n_arms}"
            )
        return policy


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


@contextmanager
def _stopwatch(outcome: Outcome) -> Iterator[None]:
    """Add the wall and CPU time of a block of code, in this thread."""
    wall, cpu = time.perf_counter(), time.thread_time()
    yield
    outcome.seconds += time.perf_counter() - wall
    outcome.cpu_seconds += time.thread_time() - cpu
