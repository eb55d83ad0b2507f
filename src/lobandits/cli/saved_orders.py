"""A file of orders or of a learned model: what it holds, and the policy that knows it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from lobandits.beliefs import Prior
    from lobandits.learning import Model
    from lobandits.orders import LatentOrders
    from lobandits.policies import Policy


def is_model(path: Path) -> bool:
    """Return whether a file says that it is a learned model."""
    from lobandits.basics.files import read_json
    from lobandits.orders.storage import MODEL_FORMAT

    data = read_json(path)
    return isinstance(data, dict) and data.get("format") == MODEL_FORMAT


def load_saved(path: Path) -> "Model | LatentOrders":
    """Return what a file holds that `Model.save` or `LatentOrders.save` wrote."""
    from lobandits.learning import Model
    from lobandits.orders import LatentOrders

    return Model.load(path) if is_model(path) else LatentOrders.load(path)


def load_model(path: Path) -> "Model":
    """Return the model in the file of ``--model``; refuse orders."""
    from lobandits.learning import Model

    if not is_model(path):
        raise LobInputError(
            f"--model is {path}, which is no model that lob learn wrote; if it has orders, give "
            "--orders"
        )
    return Model.load(path)


def load_orders(path: Path) -> "LatentOrders":
    """Return the orders in the file of ``--orders``; refuse a model."""
    from lobandits.orders import LatentOrders

    if is_model(path):
        raise LobInputError(
            f"--orders is {path}, which is a learned model, and knows more than orders; give "
            f"--model {path}"
        )
    return LatentOrders.load(path)


def load_known(model: Path | None, orders: Path | None) -> "Model | LatentOrders":
    """Return what the file of ``--model`` or ``--orders`` holds, of which one is given."""
    if model is not None and orders is None:
        return load_model(model)
    if orders is not None and model is None:
        return load_orders(orders)
    got = "none" if model is None else "both"
    raise LobInputError(
        f"give --model, a file that lob learn wrote, or --orders; got {got} of them"
    )


class _Known(NamedTuple):
    """What a policy may know."""

    n_arms: int
    sigma: float
    orders: "LatentOrders | None"
    state_means: Any
    prior: "Prior | None"


def read_policy(
    model: Path | None,
    orders: Path | None,
    policy: str | None,
    sigma: float | None,
    half_life: str | None = None,
) -> "Policy":
    """Return the policy named ``policy`` that knows a model, or orders.

    By default it is LobBayes of a model, and lobTS of orders, whose choices stay random. The noise
    of rewards is the model's; with orders it is ``sigma``, by default 1. With a half-life, such as
    30d, the policy forgets.
    """
    from lobandits.basics.checks import seconds_of
    from lobandits.policies import POLICIES, make_policy
    from lobandits.policies.registry import missing, parse_name

    known = _known(model, orders, sigma)
    policy = policy or ("lobts" if known.prior is None else "lobbayes")
    name, options = parse_name(policy)
    words = {"state_means": "every state's means", "prior": "a prior"}
    for what in missing(POLICIES[name], known._asdict() | options):
        if what in words:
            raise LobInputError(
                f"{name} needs {words[what]}, which {orders} lacks; give --model, a file that lob "
                "learn wrote"
            )
    fades: dict[str, Any] = (
        {} if half_life is None else {"half_life": seconds_of("--half-life", half_life)}
    )
    return make_policy(policy, known, **fades)


def _known(model: Path | None, orders: Path | None, sigma: float | None) -> _Known:
    from lobandits.beliefs import Gaussian
    from lobandits.orders import LatentOrders

    held = load_known(model, orders)
    if isinstance(held, LatentOrders):
        return _Known(held.n_arms, 1.0 if sigma is None else sigma, held, None, None)
    prior = held.prior
    if sigma is not None and prior.likelihood.name != "gaussian":
        raise LobInputError(
            f"--sigma is {sigma:g}, but the noise of {prior.likelihood.name} rewards follows from "
            "their means; leave it out"
        )
    if sigma is not None:
        prior = prior.with_likelihood(Gaussian(sigma))
    return _Known(prior.n_arms, prior.sigma, None, prior.state_means, prior)
