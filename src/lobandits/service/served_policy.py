"""Policies that are served: as JSON in the store and over HTTP, deciding on counts and sums."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, positive
from lobandits.errors import LobError, LobInputError
from lobandits.policies import Policy, policy_from_dict
from lobandits.policies.registry import stored_form
from lobandits.rules.choices import draw_arms, normalised
from lobandits.service.requests import MOST_ALLOWED, MOST_CHARACTERS
from lobandits.statistics import State

MOST_CELLS = 50_000_000  # arms x arms x states of orders: what they take in bytes
MOST_NUMBERS = 50_000_000  # of a prior, arms x (states + loadings): a few hundred megabytes
LONGEST_HALF_LIFE = 1000 * 366 * 86400.0  # seconds


def check_size(data: Any) -> None:
    """Refuse a stored policy that would take a server's memory, before it is built."""
    for part in data.values() if isinstance(data, Mapping) else ():
        if not isinstance(part, Mapping) or not isinstance(part.get("arms"), list):
            continue
        k = len(part["arms"])
        if "means" in part:
            check_size(part)  # it may have orders
            _check_prior(k, _length(part["means"]), _columns(part.get("loadings")))
        elif k * k * _length(part.get("states")) > MOST_CELLS:
            raise LobInputError(
                f"{k:,} arms and {_length(part.get('states')):,} states are too many for a "
                f"service: arms x arms x states of orders must be at most {MOST_CELLS:,}; serve "
                "fewer arms, or a model from lob learn, which needs no orders"
            )


def _check_prior(k: int, m: int, r: int) -> None:
    if k * (m + r) > MOST_NUMBERS:
        raise LobInputError(
            f"a prior of {k:,} arms, {m:,} states and {r:,} loadings is too large for a service: "
            f"arms x (states + loadings) must be at most {MOST_NUMBERS:,}; learn fewer states "
            "(n_states), or drop rare arms (min_arm_rewards)"
        )


def _length(rows: Any) -> int:
    return len(rows) if isinstance(rows, list) else 1


def _columns(rows: Any) -> int:
    return _length(rows[0]) if isinstance(rows, list) and rows else 0


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
    microseconds_of(policy)
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
    data = json.loads(text)
    check_size(data)
    policy = policy_from_dict(data)
    odds = odds_of(policy, policy.seen(policy.start(1)), policy.all_arms)
    drawn(odds, np.random.default_rng(0))
    return policy


def microseconds_of(policy: Policy) -> int | None:
    """Return the half-life of a policy, whose unit is seconds in a service."""
    if policy.half_life is None:
        return None
    seconds = positive("half_life", policy.half_life)
    if not 1.0 <= seconds <= LONGEST_HALF_LIFE:
        raise LobInputError(
            f"a service needs a half-life from 1 second to 1000 years, got {seconds:g} seconds"
        )
    return round(seconds * 1e6)


def as_policy(data: Mapping[str, Any]) -> Policy:
    """Return the policy that `Policy.to_dict` described."""
    n_arms = data.get("n_arms", 1)
    if not isinstance(n_arms, int) or n_arms > MOST_ALLOWED:
        raise LobInputError(f"n_arms must be a whole number of at most {MOST_ALLOWED}")
    check_size(data)
    try:
        return policy_from_dict(data)
    except LobError:
        raise
    except Exception as error:  # the policy may be anybody's
        raise LobInputError(f"this is no policy: {error}") from error


def odds_of(policy: Policy, state: State, allowed: BoolArray) -> FloatArray:
    """Return the odds of each arm for each user; every user has one above 0."""
    odds: FloatArray = policy.odds(state, allowed)
    if not (odds.sum(axis=1) > 0).all():
        raise LobInputError(f"{policy!r} must have an arm with odds above 0 for every user")
    return odds


def with_floor(odds: FloatArray, allowed: BoolArray, explore: float) -> FloatArray:
    r"""Return the chances :math:`(1 - \epsilon) p_a + \epsilon / k` of the k allowed arms."""
    floor = allowed / allowed.sum(axis=1, keepdims=True)
    chances: FloatArray = (1.0 - explore) * normalised(odds) + explore * floor
    return chances


def drawn(odds: FloatArray, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Return an arm for each user, and its probability.

    An arm is drawn by the very odds that its probability comes from: so that is exact, and never 0.
    """
    arms = draw_arms(odds, rng.random(len(odds)))
    return arms, odds[np.arange(len(odds)), arms] / odds.sum(axis=1)


def state_of(policy: Policy, counts: IntArray, sums: FloatArray) -> State:
    """Return the state of users with these rewards, (n_users, n_arms) each, which never fade."""
    state: State = policy.new_state(len(counts))
    state.counts[...] = counts
    state.sums[...] = sums
    return state
