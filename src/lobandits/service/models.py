"""The model over HTTP: as a picture of its orders, and as data that a policy is made of."""

from collections.abc import Mapping
from typing import Any

from lobandits.errors import LobError, LobInputError
from lobandits.orders import LatentOrders
from lobandits.policies import Policy, policy_from_dict
from lobandits.service.checks import MOST_ALLOWED
from lobandits.service.decisions import DecisionService


def describe(service: DecisionService) -> dict[str, Any]:
    """Return the model that decides now: its name, arms and ranks, and all of its policy.

    The rank of an arm in a state is 1 plus the number of arms above it.
    """
    service.ready()
    name, policy = service.model, service.policy
    orders = getattr(policy, "orders", None)
    ranks = 1 + orders.precedes.sum(axis=1) if isinstance(orders, LatentOrders) else None
    return {
        "model": name,
        "policy": policy.name,
        "arms": list(policy.arms),
        "ranks": None if ranks is None else ranks.tolist(),
        "definition": policy.to_dict(),
    }


def as_policy(data: Mapping[str, Any]) -> Policy:
    """Return the policy that `Policy.to_dict` described, or say what is wrong."""
    n_arms = data.get("n_arms", 1)
    if not isinstance(n_arms, int) or n_arms > MOST_ALLOWED:
        raise LobInputError(f"n_arms must be a whole number of at most {MOST_ALLOWED}")
    try:
        return policy_from_dict(data)
    except LobError:
        raise
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise LobInputError(f"this is no policy: {error}") from error
