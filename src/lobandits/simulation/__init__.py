"""Environments, and the one call that compares policies on them.

``MovieLens`` loads on first use: it brings what learning needs.
"""

from typing import TYPE_CHECKING, Any

from lobandits.simulation.failures import SimulationError, SimulationInterrupted
from lobandits.simulation.fixed import FixedProblems
from lobandits.simulation.moments import Curve
from lobandits.simulation.problems import Environment, Problems
from lobandits.simulation.result import Difference, Result
from lobandits.simulation.run import simulate
from lobandits.simulation.synthetic import Synthetic

if TYPE_CHECKING:
    from lobandits.simulation.movielens import MovieLens

__all__ = [
    "Curve",
    "Difference",
    "Environment",
    "FixedProblems",
    "MovieLens",
    "Problems",
    "Result",
    "SimulationError",
    "SimulationInterrupted",
    "Synthetic",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name != "MovieLens":
        raise AttributeError(f"module 'lobandits.simulation' has no attribute {name!r}")
    from lobandits.simulation.movielens import MovieLens

    return MovieLens
