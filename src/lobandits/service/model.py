"""Models: a policy that is served, its arms' numbers in the store, and its restrictions."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_index
from lobandits.policies import Policy, State, policy_from_dict
from lobandits.service.checks import MOST_CHARACTERS
from lobandits.service.errors import UnknownArmError
from lobandits.service.store.store import StoredModel

RESTRICTIONS = 256  # restricted policies kept per model


class Restriction(NamedTuple):
    """A policy for some arms of a model."""

    policy: Policy
    columns: IntArray  # the arms' places in the model
    ids: list[int]  # their numbers in the store


class Model:
    """A version of the policy that is served.

    Attributes
    ----------
    version : int
        1 for the first model of a store, then counting.
    name : str
        The version, and the beginning of the policy's hash.
    policy : Policy
        What decides.
    """

    def __init__(self, stored: StoredModel, arms: Mapping[str, int]) -> None:
        self.version, self.name = stored.version, stored.name
        self.policy = policy_from_dict(json.loads(stored.policy))
        self.ids = [arms[name] for name in self.policy.arms]
        self.column = np.full(max(arms.values()) + 1, -1)
        self.column[self.ids] = np.arange(len(self.ids))
        self._places = {name: place for place, name in enumerate(self.policy.arms)}
        self._restrictions = lru_cache(RESTRICTIONS)(self._make)

    def key(self, allowed: tuple[str, ...] | None) -> tuple[int, ...] | None:
        """Return the allowed arms as places in the model, sorted; None for all arms.

        Raises
        ------
        UnknownArmError
            If the model has no arm of that name.
        """
        if allowed is None:
            return None
        try:
            places = tuple(sorted({self._places[name] for name in allowed}))
        except KeyError as error:
            try:
                arm_index(self.policy.arms, error.args[0][:256])
            except LobInputError as reason:
                raise UnknownArmError(str(reason)) from None
            raise
        return None if len(places) == len(self._places) else places

    def restricted(self, key: tuple[int, ...] | None) -> Restriction:
        """Return the policy for the arms of a `key`."""
        return self._restrictions(key)

    def _make(self, key: tuple[int, ...] | None) -> Restriction:
        places = range(len(self.ids)) if key is None else key
        policy = self.policy if key is None else self.policy.only(places)
        return Restriction(policy, np.array(places), [self.ids[place] for place in places])


def encoded(policy: Policy) -> tuple[str, str]:
    """Return a policy as JSON, and the hash of that text.

    Raises
    ------
    LobInputError
        If the policy cannot be served: it needs more than counts and sums, is made for
        particular users, or has an arm that cannot be stored.
    """
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
    text = json.dumps(policy.to_dict(), ensure_ascii=False, allow_nan=False, sort_keys=True)
    return text, hashlib.sha256(text.encode()).hexdigest()


def state_of(policy: Policy, counts: IntArray, sums: FloatArray) -> State:
    """Return the state of users with these rewards, (n_users, n_arms) each."""
    state = policy.new_state(len(counts))
    state.counts[...] = counts
    state.sums[...] = sums
    return state
