"""Every policy by its name: those defined here, by third parties, and by you."""

import ast
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING
from functools import cache
from importlib.metadata import entry_points
from inspect import getsourcefile
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike

from lobandits.basics.checks import one_of
from lobandits.errors import LobInputError, LobWarning

if TYPE_CHECKING:
    from lobandits.orders import LatentOrders, UserOrders
    from lobandits.policies.policy import Policy

GROUP = "lobandits.policies"
_classes: dict[str, "type[Policy]"] = {}


def register(cls: "type[Policy]") -> None:
    """Add a class under its name; a class defined again in the same place replaces the old one."""
    known = _classes.get(cls.name)
    if known is not None and _place(known) != _place(cls):
        raise LobInputError(
            f"two policies have the name {cls.name!r}: {_place(known)} and {_place(cls)}; "
            "rename one of them"
        )
    _classes[cls.name] = cls


def _place(cls: type) -> str:
    """Return where a class was defined."""
    try:
        file = getsourcefile(cls)
    except (OSError, TypeError):  # typed at a prompt
        file = None
    return f"{cls.__module__}.{cls.__qualname__}" + (f" ({file})" if file else "")


@cache
def load_plugins() -> None:
    """Import, once, what other packages offer in the entry-point group `GROUP`."""
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            warnings.warn(
                f"the policies of {point.value!r} cannot be loaded: {error!r}; repair or remove "
                f"the package {point.dist.name if point.dist else point.name!r}",
                LobWarning,
                stacklevel=2,
            )


class Policies(Mapping[str, "type[Policy]"]):
    """A live view of all named subclasses of `Policy`, in the order of their definition."""

    def __getitem__(self, name: str) -> "type[Policy]":
        if name not in _classes:
            load_plugins()
        return _classes[name]

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter(tuple(_classes))

    def __len__(self) -> int:
        load_plugins()
        return len(_classes)

    def __repr__(self) -> str:
        return f"POLICIES({', '.join(self)})"


POLICIES = Policies()
"""The class of every policy, by its name."""


class ProblemLike(Protocol):
    """What `make_policy` reads from problems; and their ``prior``, if they have one."""

    @property
    def n_arms(self) -> int:
        """Number of arms."""

    @property
    def sigma(self) -> float:
        """Standard deviation of rewards."""

    @property
    def orders(self) -> "LatentOrders | UserOrders | None":
        """Orders of the states; None for those of the prior."""

    @property
    def state_means(self) -> ArrayLike | None:
        """Means of the states, if they are known."""


def make_policy(
    name: str, problems: ProblemLike, horizon: int | None = None, **options: Any
) -> "Policy":
    """Return a policy that knows what it may know of ``problems``.

    Parameters
    ----------
    name
        A key of `POLICIES`, perhaps with options in brackets: ``"lobts(project_every=10)"``.
    problems
        Where its orders, means, prior, sigma and number of arms come from: what is named like a
        parameter of the policy.
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
    parameters = parameters_of(cls)
    for option in options:
        one_of(f"option of {name}", option, parameters)
    values = _known(problems, parameters, horizon) | options
    for what in missing(cls, values):
        raise LobInputError(f"{name} needs {ADVICE[what]}")
    return cls(**{key: value for key, value in values.items() if value is not None})


KNOWN = ("n_arms", "sigma", "orders", "state_means")
ADVICE = {
    "prior": "a prior, and these problems have none; learn one from past users, with Synthetic or "
    "FixedProblems(..., past_users=600) or MovieLens(..., hold_out=0.5), or give it: prior=...",
    "state_means": "the means of states; give the problems state_means",
    "horizon": "the horizon, a number of rounds: make_policy(name, problems, horizon=T)",
}


def missing(cls: "type[Policy]", values: Mapping[str, Any]) -> list[str]:
    """Return what a policy cannot be made without, of `ADVICE`, and these values lack."""
    return [what for what in ADVICE if needs(cls, what) and values.get(what) is None]


def needs(cls: "type[Policy]", parameter: str) -> bool:
    """Tell whether a policy has this parameter, and cannot be made without it."""
    of = cls._fields().get(parameter)
    return of is not None and of.default is MISSING and of.default_factory is MISSING


def _known(
    problems: ProblemLike, parameters: Collection[str], horizon: int | None
) -> dict[str, Any]:
    """Return what a policy with these parameters may know of problems.

    Priors are learned when they are asked for, so only what is needed is.
    """
    of_prior = problems.orders is None and {"orders", "arms"} & set(parameters)
    prior = getattr(problems, "prior", None) if of_prior or "prior" in parameters else None
    named = prior if problems.orders is None else problems.orders  # what has arms
    known = {name: getattr(problems, name) for name in KNOWN if name in parameters}
    if "orders" in parameters and problems.orders is None:
        known["orders"] = getattr(prior, "orders", None)
    own = {"prior": prior, "arms": getattr(named, "arms", None), "horizon": horizon}
    return known | {name: value for name, value in own.items() if name in parameters}


def parameters_of(cls: "type[Policy]") -> list[str]:
    """Return the names of the parameters of a policy's constructor."""
    return list(cls._fields())


def parse_name(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"lobts(project_every=10)"`` into a policy's name and its options."""
    name, bracket, inside = text.partition("(")
    if name not in _classes:
        one_of("policy", name, list(POLICIES))
    if not bracket:
        return name, {}
    try:
        call = ast.parse(f"options({inside}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(not k.arg for k in call.keywords):
            raise ValueError
        return name, {str(k.arg): _option(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        raise LobInputError(
            f"cannot read the options in {text!r}; write them like {name}(option=1)"
        ) from None


def _option(node: ast.expr) -> Any:
    """Return the value of an option; words need no quotes, which shells would take for theirs."""
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


def policy_from_dict(data: Mapping[str, Any]) -> "Policy":
    """Return the policy that `Policy.to_dict` described."""
    if not isinstance(data, Mapping) or "policy" not in data:
        raise LobInputError("a stored policy needs the field 'policy', its name")
    return POLICIES[one_of("policy", data["policy"], list(POLICIES))].from_dict(data)


def stored_form(policy: "Policy") -> dict[str, Any]:
    """Return `Policy.to_dict`, proven: the policy that comes back from it is equal.

    Whoever writes a policy down calls this first, so that nothing is stored that cannot be read.
    """
    try:
        data = policy.to_dict()
        back = policy_from_dict(data)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise LobInputError(
            f"{policy!r} cannot be stored: what to_dict gives cannot be read back: {error}"
        ) from error
    if back != policy and policy.n_users is None:  # one user's parts come back as everybody's
        raise LobInputError(
            f"{policy!r} cannot be stored: what to_dict gives comes back as {back!r}"
        )
    return data
