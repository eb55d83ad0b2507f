"""What the commands of the service share: the extra that they need, and the model they serve."""

from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lobandits.errors import LobError, LobInputError

if TYPE_CHECKING:
    from lobandits.orders import LatentOrders
    from lobandits.policies import Policy

NEEDED = ("fastapi", "uvicorn", "httpx", "sqlalchemy", "psycopg", "prometheus_client")


def need_service() -> None:
    """Say how to install what the service needs, if it is not there."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise LobError(
            f"this command needs the extra 'service' ({missing[0]} is not installed): "
            "pip install 'lobandits[service]'"
        )


def existing(store: str) -> str:
    """Return a store's URL, or refuse a file that is not there: opening it would create it."""
    path = store.removeprefix("sqlite:///").partition("?")[0]
    if store.startswith("sqlite:///") and not Path(path).exists():
        raise LobInputError(f"there is no store at {path}; lob serve creates one")
    return store


@dataclass(frozen=True)
class _Known:
    """What a policy may know."""

    sigma: float
    orders: "LatentOrders"
    state_means: Any

    @property
    def n_arms(self) -> int:
        return self.orders.n_arms


def read_policy(orders: Path, policy: str, sigma: float | None) -> "Policy":
    """Return the policy named ``policy`` that knows the orders in a file.

    Policies that need every state's means find them in the file of a learned model, which also
    has a sigma, for those who give none.
    """
    from lobandits._files import read_json
    from lobandits.orders import LatentOrders
    from lobandits.policies import POLICIES, make_policy
    from lobandits.policies.registry import parse_name

    name, options = parse_name(policy)
    states, data = LatentOrders.load(orders), read_json(orders)
    if sigma is None:
        sigma = data.get("sigma") or 1.0
    known = _Known(sigma, states, data.get("state_means"))
    needs = {field.name for field in fields(POLICIES[name])}  # type: ignore[arg-type]
    if "state_means" in needs and known.state_means is None and "state_means" not in options:
        raise LobInputError(
            f"{name} needs every state's means, which {orders} lacks; orders learned from logs "
            "come with them"
        )
    return make_policy(policy, known)
