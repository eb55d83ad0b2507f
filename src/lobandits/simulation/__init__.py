"""Environments, and the one call that compares policies on them."""

from lobandits.simulation.failures import SimulationError, SimulationInterrupted
from lobandits.simulation.fixed import FixedProblems
from lobandits.simulation.moments import Curve
from lobandits.simulation.problems import Environment, Problems
from lobandits.simulation.result import Difference, Result
from lobandits.simulation.run import simulate
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
