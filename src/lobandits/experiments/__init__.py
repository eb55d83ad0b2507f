"""The paper's figures, tables and claims, as data, and one runner for all of them."""

from lobandits.experiments.runner import EXPERIMENTS, GROUPS, Reproduction, reproduce

__all__ = ["EXPERIMENTS", "GROUPS", "Reproduction", "reproduce"]
