"""Models: a policy that is served, how it decides, and how a newer one takes over."""

import hashlib
import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.errors import LobError, LobInputError
from lobandits.orders.arms import arm_index
from lobandits.policies import Policy, State, policy_from_dict
from lobandits.policies.registry import stored_form
from lobandits.service.calls import MOST_ALLOWED, MOST_CHARACTERS
from lobandits.service.errors import UnknownArmError
from lobandits.service.store import Store
from lobandits.service.store.databases import StoredStatistics

POLL_SECONDS = 1.0

Key = tuple[int, ...] | None  # allowed arms as places in the model, sorted; None for all arms
Table = tuple[IntArray, FloatArray]  # counts and sums, (n_users, n_arms) as the model's arms

logger = logging.getLogger(__name__)


class Model:
    """A version of the policy that is served."""

    def __init__(self, store: Store, version: int) -> None:
        arms = store.arms()
        self.version = version
        self.name, text = store.model(version)
        self.policy = policy_from_dict(json.loads(text))
        self.ids = [arms[name] for name in self.policy.arms]
        self.column = np.full(max(arms.values()) + 2, -1)  # the last one is of all later arms
        self.column[self.ids] = np.arange(len(self.ids))
        self._places = {name: place for place, name in enumerate(self.policy.arms)}

    def key(self, allowed: tuple[str, ...] | None) -> Key:
        """Return the key of the allowed arms, or raise `UnknownArmError`."""
        if allowed is None:
            return None
        try:
            places = tuple(sorted({self._places[name] for name in allowed}))
        except KeyError as error:
            try:
                arm_index(self.policy.arms, error.args[0][: MOST_CHARACTERS + 1])
            except LobInputError as reason:
                raise UnknownArmError(str(reason)) from None
            raise
        return None if len(places) == len(self._places) else places

    def table(self, users: Sequence[int], stored: StoredStatistics) -> Table:
        """Return the statistics of ``users``, in their order, without arms of other models."""
        numbers = np.array(users, np.int64)
        order = np.argsort(numbers)
        counts = np.zeros((len(numbers), len(self.ids)), np.int64)
        sums = np.zeros(counts.shape)
        columns = self.column.take(stored.arms, mode="clip")
        kept = columns >= 0
        rows = order[np.searchsorted(numbers, stored.users[kept], sorter=order)]
        counts[rows, columns[kept]] = stored.plays[kept]
        sums[rows, columns[kept]] = stored.totals[kept]
        return counts, sums

    def choose(
        self, table: Table, rows: IntArray, keys: Sequence[Key], rng: np.random.Generator
    ) -> tuple[list[int], list[float]]:
        """Return a place in the model's arms, and its probability, for each request.

        Request i is of the user ``rows[i]`` of the table, restricted to the arms ``keys[i]``.
        """
        counts, sums = table
        state = state_of(self.policy, counts[rows], sums[rows])
        allowed = self.policy.all_arms
        if any(key is not None for key in keys):
            allowed = np.zeros(state.counts.shape, np.bool_)
            for i, key in enumerate(keys):
                allowed[i, slice(None) if key is None else list(key)] = True
        arms = self.policy.decide(state, self.policy.draw(rng, (len(rows),)), allowed)
        odds = self.policy.odds(state, allowed)
        chances = odds[np.arange(len(rows)), arms] / odds.sum(axis=1)
        return arms.tolist(), chances.tolist()


class CurrentModel:
    """The newest model of a store, as ``model``, and the names of all arms and models."""

    def __init__(self, store: Store, policy: Policy | None) -> None:
        self._store = store
        self._arms: dict[int, str] = {}
        self._models: dict[int, str] = {}
        if policy is not None:
            store.put_model(*encoded(policy), policy.arms)
        version = store.newest_version()
        if not version:
            raise LobInputError("the store has no model yet; give a policy (lob serve: --orders)")
        self.model = self._load(version)
        self._looked = time.monotonic()

    def put(self, policy: Policy) -> str:
        """Let a policy decide, as the newest model; return the model's name."""
        self._store.put_model(*encoded(policy), policy.arms)
        return self.reload()

    def reload(self) -> str:
        """Let the newest model decide; return its name."""
        version = self._store.newest_version()
        if version != self.model.version:
            self.model = self._load(version)
        return self.model.name

    def follow(self) -> None:
        """Reload, at most once a second; go on with the old model if the new one is no use."""
        now = time.monotonic()
        if now - self._looked > POLL_SECONDS:
            self._looked = now
            try:
                self.reload()
            except LobInputError as error:  # made by a newer lobandits
                logger.error("going on with model %s: %s", self.model.name, error)

    def arm_name(self, number: int) -> str:
        """Return the name of any arm that ever was."""
        if number not in self._arms:
            self._arms = {number: name for name, number in self._store.arms().items()}
        return self._arms[number]

    def model_name(self, version: int) -> str:
        """Return the name of any model that ever was."""
        if version not in self._models:
            self._models[version], _ = self._store.model(version)
        return self._models[version]

    def _load(self, version: int) -> Model:
        model = Model(self._store, version)
        policy = model.policy
        self._models[version] = model.name
        self._arms.update(zip(model.ids, policy.arms, strict=True))
        state = policy.new_state(1)  # compiles, so that no caller waits for it
        policy.decide(state, policy.draw(np.random.default_rng(0), (1,)), policy.all_arms)
        policy.odds(state, policy.all_arms)
        return model


def encoded(policy: Policy) -> tuple[str, str]:
    """Return a policy as JSON, and its hash; refuse what cannot be served."""
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
    text = json.dumps(stored_form(policy), ensure_ascii=False, allow_nan=False, sort_keys=True)
    return text, hashlib.sha256(text.encode()).hexdigest()


def as_policy(data: Mapping[str, Any]) -> Policy:
    """Return the policy that `Policy.to_dict` described."""
    n_arms = data.get("n_arms", 1)
    if not isinstance(n_arms, int) or n_arms > MOST_ALLOWED:
        raise LobInputError(f"n_arms must be a whole number of at most {MOST_ALLOWED}")
    try:
        return policy_from_dict(data)
    except LobError:
        raise
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise LobInputError(f"this is no policy: {error}") from error


def state_of(policy: Policy, counts: IntArray, sums: FloatArray) -> State:
    """Return the state of users with these rewards, (n_users, n_arms) each."""
    state: State = policy.new_state(len(counts))
    state.counts[...] = counts
    state.sums[...] = sums
    return state
