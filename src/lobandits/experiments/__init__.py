"""The paper's figures, tables and claims, as data, and one runner: run what is missing, judge."""

from lobandits.experiments.catalogue import EXPERIMENTS, GROUPS
from lobandits.experiments.experiment import Outcome, Reproduction
from lobandits.experiments.runner import reproduce

__all__ = ["EXPERIMENTS", "GROUPS", "Outcome", "Reproduction", "reproduce"]
