"""Environments, and the one call that compares policies on them.

``MovieLens`` is in `movielens` alone: it brings what learning needs.
"""

from lobandits.simulation.blocks import Curve
from lobandits.simulation.problems import Environment, FixedProblems, Problems
from lobandits.simulation.result import Difference, Result
from lobandits.simulation.run import SimulationInterrupted, simulate
from lobandits.simulation.runner import SimulationError
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
