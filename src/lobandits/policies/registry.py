"""All policies by name."""

import ast
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Protocol

from numpy.typing import ArrayLike

from lobandits._checks import one_of
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies.base import Policy
from lobandits.policies.lobids import LobIDS
from lobandits.policies.lobimed import LobIMED
from lobandits.policies.lobts import LobTS
from lobandits.policies.lobucb import LobUCB
from lobandits.policies.mts import MTS
from lobandits.policies.mucb import MUCB
from lobandits.policies.toparms import TopArmsUCB
from lobandits.policies.ts import TS
from lobandits.policies.ucb import UCB

_CLASSES: tuple[type[Policy], ...]
_CLASSES = (UCB, TS, MUCB, MTS, LobUCB, LobTS, TopArmsUCB, LobIMED, LobIDS)
POLICIES: Mapping[str, type[Policy]] = MappingProxyType({cls.name: cls for cls in _CLASSES})
"""The class of every policy, by its name."""


class ProblemLike(Protocol):
    """What `make_policy` reads from problems."""

    @property
    def n_arms(self) -> int:
        """Number of arms."""

    @property
    def sigma(self) -> float:
        """Standard deviation of rewards."""

    @property
    def orders(self) -> LatentOrders | UserOrders:
        """Orders of the states."""

    @property
    def state_means(self) -> ArrayLike:
        """Means of the states."""


def make_policy(
    name: str, problems: ProblemLike, horizon: int | None = None, **options: Any
) -> Policy:
    """Return a policy that knows what it may know of ``problems``.

    Parameters
    ----------
    name
        A key of `POLICIES`, perhaps with options in brackets: ``"lobts(project_every=10)"``.
    problems
        Where its orders, means, sigma and number of arms come from.
    horizon
        Number of rounds; only mUCB needs it.
    options
        Any parameter of the policy.

    Examples
    --------
    >>> import lobandits as lob
    >>> problems = lob.Synthetic(n_arms=5, n_states=4).sample(10, seed=0)
    >>> make_policy("ucb", problems)
    UCB(n_arms=5, sigma=1.0)
    """
    name, written = parse_name(name)
    options = written | options
    cls = POLICIES[name]
    parameters = [field.name for field in fields(cls) if field.init]  # type: ignore[arg-type]
    for option in options:
        one_of(f"option of {name}", option, parameters)
    known = {
        "horizon": horizon,
        "arms": problems.orders.arms,
        "n_arms": problems.n_arms,
        "sigma": problems.sigma,
        "orders": problems.orders,
        "state_means": problems.state_means,
    }
    values = {key: known[key] for key in parameters if key in known} | options
    if values.get("horizon", 1) is None:
        raise LobInputError(f"{name} needs the horizon: make_policy({name!r}, problems, horizon=T)")
    return cls(**values)


def parse_name(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"lobts(project_every=10)"`` into a policy's name and its options.

    Examples
    --------
    >>> parse_name("lobts(project_every=10)")
    ('lobts', {'project_every': 10})
    """
    name, bracket, inside = text.partition("(")
    one_of("policy", name, list(POLICIES))
    if not bracket:
        return name, {}
    try:
        call = ast.parse(f"options({inside}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(not k.arg for k in call.keywords):
            raise ValueError
        return name, {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        raise LobInputError(
            f"cannot read the options in {text!r}; write them like {name}(option=1)"
        ) from None


def policy_from_dict(data: Mapping[str, Any]) -> Policy:
    """Return the policy that `Policy.to_dict` described."""
    if not isinstance(data, Mapping) or "policy" not in data:
        raise LobInputError("a stored policy needs the field 'policy', its name")
    return POLICIES[one_of("policy", data["policy"], list(POLICIES))].from_dict(data)
