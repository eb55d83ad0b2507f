"""Duels instead of rewards: which two arms a user compares next."""

from lobandits.policies.duels.catalogue import DUEL_POLICIES, make_duel_policy
from lobandits.policies.duels.dts import DoubleTS
from lobandits.policies.duels.duel_policy import DuelPolicy, DuelState
from lobandits.policies.duels.from_rewards import duels_from_rewards
from lobandits.policies.duels.relative import RelativeLobTS

__all__ = [
    "DUEL_POLICIES",
    "DoubleTS",
    "DuelPolicy",
    "DuelState",
    "RelativeLobTS",
    "duels_from_rewards",
    "make_duel_policy",
]
