"""Environments, and one call that compares policies on them: threads, processes or a cluster."""

from lobandits.simulation.fixed_problems import FixedProblems
from lobandits.simulation.moments import Curve, Difference
from lobandits.simulation.policy_run import SimulationError, SimulationInterrupted
from lobandits.simulation.problems import Environment, Problems
from lobandits.simulation.result import Result
from lobandits.simulation.simulator import simulate
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
