"""What a part is: settings that decide its numbers, a guess of its cost, and a run."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Protocol

from lobandits.experiments.parts.ratings import RatingData
from lobandits.experiments.parts.record import Record

Advance = Callable[[float], None]
"""Called with the share of a part that was just done."""


@dataclass(frozen=True)
class Resources:
    """What parts are run with: the ratings at hand, and workers, which never change a number."""

    ratings: RatingData
    workers: int | None = None
    executor: Executor | None = None


class Part(Protocol):
    """A unit of work that leaves a record."""

    @property
    def cost(self) -> float:
        """A guess of the work, in decisions of a simple policy."""

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON."""

    def run(self, resources: Resources, advance: Advance) -> Record:
        """Do the work."""
