"""The paper's figures, tables and claims, as data, and one runner for all of them."""

from lobandits.experiments.catalogue import EXPERIMENTS, GROUPS
from lobandits.experiments.runner import Reproduction, reproduce

__all__ = ["EXPERIMENTS", "GROUPS", "Reproduction", "reproduce"]
