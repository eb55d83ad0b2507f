"""What is known of users besides rewards: kept with each, the newest value of every name."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lobandits.basics.checks import closest
from lobandits.policies import Policy
from lobandits.service.errors import InvalidRequestError
from lobandits.service.store.transaction import Transaction
from lobandits.statistics import State

Known = dict[str, Any]  # a user's features by name


def check_names(policy: Policy, features: Known | None) -> None:
    """Refuse names that the model does not know; a model without features knows no better."""
    names = policy.feature_names
    for name in features or () if names else ():
        if name not in names:
            raise InvalidRequestError(
                "features",
                f"unknown feature {name!r:.80}; {closest(name, names)}The model knows "
                f"{', '.join(names)}",
            )


def newest(
    transaction: Transaction, users: Sequence[int], sent: Iterable[tuple[int, Known | None]]
) -> dict[int, Known]:
    """Return what is known of users by number, and write what was ``sent`` of them, in order."""
    stored = {user: json.loads(text) for user, text in transaction.read_features(users)}
    known: dict[int, Known] = dict(stored)
    for user, features in sent:
        if features:
            known[user] = known.get(user, {}) | features
    changed = [user for user in known if known[user] != stored.get(user)]
    transaction.set_features([(user, as_text(known[user])) for user in changed])
    return known


def as_text(features: Known) -> str:
    """Return features as they are stored."""
    return json.dumps(features, ensure_ascii=False, sort_keys=True)


def describe(
    policy: Policy, state: State, users: Sequence[int], known: Mapping[int, Known]
) -> None:
    """Let a state know what a policy's model takes of what is known of its users."""
    names = policy.feature_names
    if names:
        every = (known.get(user, {}) for user in users)
        policy.describe(state, [{n: of[n] for n in names if n in of} for of in every])


def silent_features(policy: Policy, features: Known) -> list[str]:
    """Return the features of which these values say nothing to a model: missing, or never seen."""
    return list(policy.silent_features([features])) if policy.feature_names else []
