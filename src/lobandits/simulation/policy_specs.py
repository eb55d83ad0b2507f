"""What is compared, by label: policies, names of policies, functions that make policies."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._imports import Code
from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from lobandits.simulation.policy_run import PolicyRun


def label_specs(policies: Any, play: "type[PolicyRun]") -> dict[str, Any]:
    """Return what each label stands for; names are their own labels."""
    if isinstance(policies, (str, play.policy_type)) or not isinstance(policies, Iterable):
        raise LobInputError(f"policies must be a list or a mapping, got {policies!r}")
    pairs = (
        policies.items()
        if isinstance(policies, Mapping)
        else ((_name(spec, play), spec) for spec in policies)
    )
    specs: dict[str, Any] = {}
    for label, spec in pairs:
        if label in specs:
            raise LobInputError(
                f"two policies are called {label!r}; give a mapping with other labels"
            )
        _check(label, spec, play)
        specs[label] = spec
    if not specs:
        raise LobInputError("policies is empty; name at least one, for example ['lobts']")
    return specs


def _name(spec: Any, play: "type[PolicyRun]") -> str:
    if isinstance(spec, (str, play.policy_type)):
        return spec if isinstance(spec, str) else str(spec.name)
    raise LobInputError(
        f"{spec!r} is neither a policy nor the name of one; "
        "give functions a label: {'mine': function}"
    )


def _check(label: object, spec: object, play: "type[PolicyRun]") -> None:
    if not isinstance(label, str) or label in ("", "user", "round"):
        raise LobInputError(f"{label!r} cannot label a policy; use any string but 'user', 'round'")
    if isinstance(spec, str):
        play.named(spec)
    elif not isinstance(spec, play.policy_type) and not callable(spec):
        raise LobInputError(f"policy {label!r} must be a name, a policy or a function: {spec!r}")


def code_of_specs(specs: Mapping[str, Any], play: "type[PolicyRun]") -> Code:
    """Return what another process must import to know the policies that are only named."""
    return Code.of(play.named(spec).__module__ for spec in specs.values() if isinstance(spec, str))


def take_users(label: str, policy: Any, first: int, n: int) -> Any:
    """Return the policy of the users ``first`` to ``first + n - 1``."""
    if policy.n_users is None:
        return policy
    if policy.n_users < first + n:
        raise LobInputError(f"policy {label!r} has parts for only {policy.n_users} users")
    return policy.take(np.arange(first, first + n))
