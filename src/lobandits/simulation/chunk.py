"""A part of a run that any worker can do: some users, every policy, every round."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lobandits._imports import Code
from lobandits.simulation.environment import Environment
from lobandits.simulation.policy_specs import take_users
from lobandits.simulation.streams import BLOCK

if TYPE_CHECKING:
    from lobandits.simulation.policy_run import PolicyRun

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
