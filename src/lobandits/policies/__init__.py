"""Policies: frozen values that decide for any number of users at once."""

from lobandits.policies.agent import POLICIES, Agent, make_policy, policy_from_dict
from lobandits.policies.base import Details, Explanation, Policy
from lobandits.policies.families import MeansPolicy, OrderPolicy
from lobandits.policies.lobids import LobIDS
from lobandits.policies.lobimed import LobIMED
from lobandits.policies.lobts import LobTS, LobTSState
from lobandits.policies.lobucb import LobUCB, LobUCBState
from lobandits.policies.mts import MTS
from lobandits.policies.mucb import MUCB, MUCBState
from lobandits.policies.relative import DuelState, RelativeLobTS, duels_from_rewards
from lobandits.policies.state import State
from lobandits.policies.ts import TS
from lobandits.policies.ucb import UCB, TopArmsUCB

__all__ = [
    "MTS",
    "MUCB",
    "POLICIES",
    "TS",
    "UCB",
    "Agent",
    "Details",
    "DuelState",
    "Explanation",
    "LobIDS",
    "LobIMED",
    "LobTS",
    "LobTSState",
    "LobUCB",
    "LobUCBState",
    "MUCBState",
    "MeansPolicy",
    "OrderPolicy",
    "Policy",
    "RelativeLobTS",
    "State",
    "TopArmsUCB",
    "duels_from_rewards",
    "make_policy",
    "policy_from_dict",
]
