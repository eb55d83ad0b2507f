"""Which policies a run compares: labels, and how each policy is made for some users."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, cast

import numpy as np

from lobandits.errors import LobInputError
from lobandits.policies import POLICIES, Policy, make_policy
from lobandits.policies.registry import parse_name
from lobandits.simulation.problems import Problems

Spec = str | Policy | Callable[[Problems], Policy]
"""A policy by name, perhaps with options as in "lobts(project_every=10)"; a policy itself; or a
function that makes it from the problems."""
RESERVED = ("user", "round")


def label_specs(policies: Iterable[str | Policy] | Mapping[str, Spec]) -> dict[str, Spec]:
    """Return the specs by label: the mapping's keys, or the policies' own names."""
    if isinstance(policies, str | Policy) or not isinstance(policies, Iterable):
        raise LobInputError(f"policies must be a list or a mapping, got {policies!r}")
    pairs = list(policies.items() if isinstance(policies, Mapping) else map(_named, policies))
    specs = dict(pairs)
    if not specs:
        raise LobInputError("policies is empty; name at least one, for example ['lobts']")
    if len(specs) < len(pairs):
        labels = [label for label, _ in pairs]
        twice = next(label for label in labels if labels.count(label) > 1)
        raise LobInputError(f"two policies are called {twice!r}; give a mapping with other labels")
    for label, spec in pairs:
        _check(label, spec)
    return specs


def _named(spec: object) -> tuple[str, Spec]:
    if isinstance(spec, str):
        return spec, spec
    if isinstance(spec, Policy):
        return spec.name, spec
    raise LobInputError(
        f"{spec!r} is neither a policy nor the name of one; "
        "give functions a label: {'mine': function}"
    )


def _check(label: object, spec: object) -> None:
    if not isinstance(label, str) or not label or label in RESERVED:
        raise LobInputError(f"{label!r} cannot label a policy; use any string but 'user', 'round'")
    if isinstance(spec, str):
        parse_name(spec)
    elif not isinstance(spec, Policy) and not callable(spec):
        raise LobInputError(f"policy {label!r} must be a name, a policy or a function: {spec!r}")


def describe(spec: Spec) -> str:
    """Return how a spec is written in a result's settings."""
    if isinstance(spec, str):
        return spec
    return repr(spec) if isinstance(spec, Policy) else getattr(spec, "__qualname__", repr(spec))


def share(label: str, spec: Spec, first: int, n: int) -> Spec:
    """Return the spec for users ``first`` to ``first + n - 1`` alone."""
    if not isinstance(spec, Policy) or spec.n_users is None:
        return spec
    if spec.n_users < first + n:
        raise LobInputError(f"policy {label!r} has parts for only {spec.n_users} users")
    return spec.take(np.arange(first, first + n))


def build(label: str, spec: Spec, problems: Problems, horizon: int) -> Policy:
    """Return the policy for the users of ``problems``."""
    if isinstance(spec, str):
        policy = _by_name(spec, problems, horizon)
    else:
        policy = spec if isinstance(spec, Policy) else spec(problems)
    if not isinstance(policy, Policy):
        raise LobInputError(f"the function for policy {label!r} returned {policy!r}, not a policy")
    if policy.n_arms != problems.n_arms:
        raise LobInputError(
            f"policy {label!r} has {policy.n_arms} arms, the problems have {problems.n_arms}"
        )
    return policy


def _by_name(name: str, problems: Problems, horizon: int) -> Policy:
    plain, options = parse_name(name)
    needed = {field.name for field in fields(cast("Any", POLICIES[plain]))} - set(options)
    if problems.state_means is None and "state_means" in needed:
        raise LobInputError(f"{name} needs the means of states; give the problems state_means")
    return make_policy(name, cast("Any", problems), horizon=horizon)
