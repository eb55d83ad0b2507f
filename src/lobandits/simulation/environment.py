"""What an environment must do."""

from typing import Protocol, runtime_checkable

from lobandits.simulation.problems import Problems


@runtime_checkable
class Environment(Protocol):
    """Anything that draws problems, in parts if need be, on several machines."""

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Return users ``first`` to ``first + n - 1`` of the endless sequence that ``seed`` names.

        In :func:`lobandits.simulate` ``first`` is a multiple of 8.
        """
        ...
