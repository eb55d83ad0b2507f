"""A policy from a file of orders, or of a model learned from logs."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from lobandits.orders import LatentOrders
    from lobandits.policies import Policy


class _Known(NamedTuple):
    """What a policy may know."""

    n_arms: int
    sigma: float
    orders: "LatentOrders"
    state_means: Any
    prior: None = None


def read_policy(orders: Path, policy: str, sigma: float | None) -> "Policy":
    """Return the policy named ``policy`` that knows the orders in a file.

    Policies that need every state's means find them in the file of a learned model, which also
    has a sigma, for those who give none.
    """
    from lobandits._files import read_json
    from lobandits.orders import LatentOrders
    from lobandits.policies import POLICIES, make_policy
    from lobandits.policies.registry import needs_prior, parse_name

    name, options = parse_name(policy)
    states, data = LatentOrders.load(orders), read_json(orders)
    if sigma is None:
        sigma = data.get("sigma") or 1.0
    known = _Known(states.n_arms, sigma, states, data.get("state_means"))
    needs = {field.name for field in fields(POLICIES[name])}
    if "state_means" in needs and known.state_means is None and "state_means" not in options:
        raise LobInputError(
            f"{name} needs every state's means, which {orders} lacks; orders learned from logs "
            "come with them"
        )
    if needs_prior(POLICIES[name]):
        raise LobInputError(
            f"{name} needs a prior, which {orders} lacks; make the policy in Python with "
            "learn_prior, and serve it from there"
        )
    return make_policy(policy, known)
