"""Duels instead of rewards, the paper's appendix "A note on relative feedback"."""

from lobandits.paper.duels.double_ts import DoubleTS
from lobandits.paper.duels.duel_policy import DuelPolicy
from lobandits.paper.duels.from_rewards import duels_from_rewards
from lobandits.paper.duels.relative import RelativeLobTS
from lobandits.paper.duels.simulate import simulate_duels

__all__ = ["DoubleTS", "DuelPolicy", "RelativeLobTS", "duels_from_rewards", "simulate_duels"]
