"""The paper's figures, tables and claims, as data, and one runner: run what is missing, judge."""

from lobandits.paper.catalogue import EXPERIMENTS, GROUPS
from lobandits.paper.experiment import Outcome, Reproduction
from lobandits.paper.runner import reproduce

__all__ = ["EXPERIMENTS", "GROUPS", "Outcome", "Reproduction", "reproduce"]
