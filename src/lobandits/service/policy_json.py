"""Policies as JSON: what the store keeps of a model, and what HTTP takes."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lobandits.errors import LobError, LobInputError
from lobandits.policies import Policy, policy_from_dict
from lobandits.policies.registry import stored_form
from lobandits.service.checks import MOST_ALLOWED, MOST_CHARACTERS
from lobandits.service.choosing import choose_arms


def encoded(policy: Policy) -> tuple[str, str]:
    """Return a policy as JSON, and its hash; refuse what cannot be served or read back."""
    if not isinstance(policy, Policy):
        raise LobInputError(f"a service needs a policy, got {policy!r:.80}")
    if policy.n_users is not None:
        raise LobInputError(
            f"{policy.name} has parts for {policy.n_users} users of its own; a service needs "
            "a policy that all users share"
        )
    if not policy.counts_suffice:
        raise LobInputError(
            f"{policy!r} remembers more than counts and sums of rewards, which are all that a "
            "service stores; serve another policy (for lobts and lobucb: project_every=1, "
            "refresh_every=1)"
        )
    for arm in policy.arms:
        if len(arm) > MOST_CHARACTERS or "\0" in arm:
            raise LobInputError(
                f"a service stores names of arms of up to {MOST_CHARACTERS} characters without "
                f"NUL, got {arm!r:.80}"
            )
    text = _proven(policy)
    return text, hashlib.sha256(text.encode()).hexdigest()


def _proven(policy: Policy) -> str:
    """Return a policy as JSON from which it comes back equal, and able to decide."""
    try:
        text = json.dumps(stored_form(policy), ensure_ascii=False, allow_nan=False, sort_keys=True)
        back = decoded(text)
    except LobError:
        raise
    except Exception as error:  # the policy may be anybody's
        raise LobInputError(f"{policy!r} cannot be served: {error!r}") from error
    if back != policy:
        raise LobInputError(f"{policy!r} cannot be served: stored, it comes back as {back!r}")
    return text


def decoded(text: str) -> Policy:
    """Return the policy that `encoded` wrote, after a first decision: that compiles its kernels."""
    policy = policy_from_dict(json.loads(text))
    choose_arms(policy, policy.new_state(1), policy.all_arms, np.random.default_rng(0))
    return policy


def as_policy(data: Mapping[str, Any]) -> Policy:
    """Return the policy that `Policy.to_dict` described."""
    n_arms = data.get("n_arms", 1)
    if not isinstance(n_arms, int) or n_arms > MOST_ALLOWED:
        raise LobInputError(f"n_arms must be a whole number of at most {MOST_ALLOWED}")
    try:
        return policy_from_dict(data)
    except LobError:
        raise
    except Exception as error:  # the policy may be anybody's
        raise LobInputError(f"this is no policy: {error}") from error
