"""Policies: frozen values that decide for any number of users at once."""

# ruff: noqa: I001  (the order of definition is the order of tables and figures)
from lobandits.policies.ucb import UCB
from lobandits.policies.ts import TS
from lobandits.policies.mucb import MUCB, MUCBState
from lobandits.policies.mts import MTS
from lobandits.policies.lobucb import LobUCB, LobUCBState
from lobandits.policies.lobts import LobTS, LobTSState
from lobandits.policies.toparms import TopArmsUCB
from lobandits.policies.lobimed import LobIMED
from lobandits.policies.lobids import LobIDS
from lobandits.policies.popular import Popular
from lobandits.policies.mixts import MixTS
from lobandits.policies.lobbayes import LobBayes

from lobandits.policies.agent import Agent
from lobandits.policies.explanation import Details, Explanation
from lobandits.policies.means_policy import MeansPolicy
from lobandits.policies.order_policy import OrderPolicy
from lobandits.policies.policy import Policy
from lobandits.policies.registry import POLICIES, make_policy, policy_from_dict
from lobandits.statistics.state import State

__all__ = [
    "MTS",
    "MUCB",
    "POLICIES",
    "TS",
    "UCB",
    "Agent",
    "Details",
    "Explanation",
    "LobBayes",
    "LobIDS",
    "LobIMED",
    "LobTS",
    "LobTSState",
    "LobUCB",
    "LobUCBState",
    "MUCBState",
    "MeansPolicy",
    "MixTS",
    "OrderPolicy",
    "Policy",
    "Popular",
    "PriorPolicy",
    "State",
    "TopArmsUCB",
    "make_policy",
    "policy_from_dict",
]
