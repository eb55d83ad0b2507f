"""A model: a policy that is served, and how it decides on rows of the store."""

import json
from collections.abc import Sequence

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_index
from lobandits.policies import Policy, State, policy_from_dict
from lobandits.service.checks import MOST_CHARACTERS
from lobandits.service.errors import UnknownArmError
from lobandits.service.store import Store
from lobandits.service.store.models import arm_numbers, read_model
from lobandits.service.store.transaction import StoredStatistics

Key = tuple[int, ...] | None  # allowed arms as places in the model, sorted; None for all arms
Table = tuple[IntArray, FloatArray]  # counts and sums, (n_users, n_arms) as the model's arms


class Model:
    """A version of the policy that is served."""

    def __init__(self, store: Store, version: int) -> None:
        arms = arm_numbers(store)
        self.version = version
        self.name, text = read_model(store, version)
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


def state_of(policy: Policy, counts: IntArray, sums: FloatArray) -> State:
    """Return the state of users with these rewards, (n_users, n_arms) each."""
    state: State = policy.new_state(len(counts))
    state.counts[...] = counts
    state.sums[...] = sums
    return state
