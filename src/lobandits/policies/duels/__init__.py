"""Duels instead of rewards: which two arms a user compares next."""

# ruff: noqa: I001  (the order of definition is the order of tables)
from lobandits.policies.duels.relative import RelativeLobTS
from lobandits.policies.duels.dts import DoubleTS
from lobandits.policies.duels.duel_policy import (
    DUEL_POLICIES,
    DuelPolicy,
    DuelState,
    duels_from_rewards,
    make_duel_policy,
)

__all__ = [
    "DUEL_POLICIES",
    "DoubleTS",
    "DuelPolicy",
    "DuelState",
    "RelativeLobTS",
    "duels_from_rewards",
    "make_duel_policy",
]
