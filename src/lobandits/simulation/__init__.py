"""Environments, and the one call that compares policies on them: threads, processes or a cluster.

``MovieLens`` is in `movielens` alone: it brings what learning needs.
"""

from lobandits.simulation.fixed_problems import FixedProblems
from lobandits.simulation.moments import Curve, Difference
from lobandits.simulation.policy_run import SimulationError, SimulationInterrupted
from lobandits.simulation.problems import Environment, Problems
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
