"""A file of orders or of a learned model: what it holds, and the policy that knows it."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders
    from lobandits.policies import Policy
    from lobandits.priors import Prior


def load_saved(path: Path) -> "OrderModel | LatentOrders":
    """Return what a file holds that `OrderModel.save` or `LatentOrders.save` wrote."""
    from lobandits._files import read_json
    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders
    from lobandits.orders.storage import MODEL_FORMAT

    data = read_json(path)
    learned = isinstance(data, dict) and data.get("format") == MODEL_FORMAT
    return OrderModel.load(path) if learned else LatentOrders.load(path)


class _Known(NamedTuple):
    """What a policy may know."""

    n_arms: int
    sigma: float
    orders: "LatentOrders"
    state_means: Any
    prior: "Prior | None"


def read_policy(
    orders: Path, policy: str | None, sigma: float | None, half_life: str | None = None
) -> "Policy":
    """Return the policy named ``policy`` that knows the orders in a file.

    By default it is LobBayes where the file has a prior, and else lobTS, whose choices stay random.

    Policies that need every state's means or a prior find them in the file of a learned model,
    which also has a sigma, for those who give none. With a half-life, such as 30d, it forgets.
    """
    from lobandits._checks import seconds_of
    from lobandits._files import read_json
    from lobandits.orders import LatentOrders
    from lobandits.policies import POLICIES, make_policy
    from lobandits.policies.registry import parse_name
    from lobandits.priors import Prior

    states, data = LatentOrders.load(orders), read_json(orders)
    policy = policy or ("lobts" if data.get("prior") is None else "lobbayes")
    name, options = parse_name(policy)
    if sigma is None:
        sigma = data.get("sigma") or 1.0
    prior = None if data.get("prior") is None else Prior.load(orders)
    known = _Known(states.n_arms, sigma, states, data.get("state_means"), prior)
    needs = {field.name for field in fields(POLICIES[name])}
    if "state_means" in needs and known.state_means is None and "state_means" not in options:
        raise LobInputError(
            f"{name} needs every state's means, which {orders} lacks; orders learned from logs "
            "come with them"
        )
    if "prior" in needs and prior is None:
        raise LobInputError(
            f"{name} needs a prior, which {orders} lacks; lob learn writes one, unless it is told "
            "--method kendall"
        )
    fades: dict[str, Any] = (
        {} if half_life is None else {"half_life": seconds_of("--half-life", half_life)}
    )
    return make_policy(policy, known, **fades)
