"""Environments, and the one call that compares policies on them: threads, processes or a cluster.

``MovieLens`` is in `movielens` alone: it brings what learning needs.
"""

from lobandits.simulation.difference import Difference
from lobandits.simulation.environment import Environment
from lobandits.simulation.errors import SimulationError, SimulationInterrupted
from lobandits.simulation.fixed_problems import FixedProblems
from lobandits.simulation.moments import Curve
from lobandits.simulation.problems import Problems
from lobandits.simulation.result import Result
from lobandits.simulation.simulator import simulate, simulate_duels
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
    "simulate_duels",
]
