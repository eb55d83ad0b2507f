"""A model: a policy that is served, and how it decides on rows of the store."""

from collections.abc import Iterable, Sequence

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, read_only
from lobandits.errors import LobError, LobInputError
from lobandits.orders.arms import arm_index
from lobandits.orders.contexts import arms_in_context, contexts_of, name_in_context
from lobandits.service.decision import MOST_CHARACTERS
from lobandits.service.errors import (
    UnknownArmError,
    UnknownContextError,
    UnreadableModelError,
)
from lobandits.service.served_policy import choose_arms, decoded, state_of
from lobandits.service.store import Store
from lobandits.service.store.models import DEFAULT_PROBLEM, arm_numbers, read_model
from lobandits.service.store.transaction import StoredStatistics

Places = list[int] | None  # of allowed arms in the model, in any order; None for all arms
Table = tuple[IntArray, FloatArray]  # counts and sums, (n_users, n_arms) as the model's arms


class Model:
    """A version of the policy that is served.

    Raises `UnreadableModelError` if it cannot decide here: its policy is unknown, or fails.
    """

    def __init__(self, store: Store, version: int) -> None:
        self.version = version
        self.name, self.problem, text = read_model(store, version)
        arms = arm_numbers(store, self.problem)
        try:
            self.policy = decoded(text)
            self.ids = [arms[name] for name in self.policy.arms]
        except Exception as error:  # the policy may be anybody's
            reason = error if isinstance(error, LobError) else repr(error)
            here = "" if self.problem == DEFAULT_PROBLEM else f" --problem {self.problem}"
            raise UnreadableModelError(
                f"model {self.name} of {store.url} cannot be read: {reason}; import what defines "
                "its policy (--import), upgrade lobandits if a newer one made it, or go back to "
                f"the model before it: lob model rollback --store {store.url}{here}"
            ) from error
        self.column = np.full(max(arms.values()) + 2, -1)  # the last one is of all later arms
        self.column[self.ids] = np.arange(len(self.ids))
        self._place_of = {name: place for place, name in enumerate(self.policy.arms)}
        self._contexts = contexts_of(self.policy.arms)

    def places(self, allowed: Iterable[str] | None, context: str | None) -> Places:
        """Return the places of the allowed arms, which a context's name precedes.

        Raises `UnknownArmError` or `UnknownContextError`.
        """
        if context is not None:
            inside = self._inside(context)
            if allowed is None:
                return inside
            allowed = [name_in_context(context, name) for name in allowed]
        elif allowed is None:
            return None
        try:
            return [self._place_of[name] for name in allowed]
        except KeyError as error:
            try:
                arm_index(self.policy.arms, error.args[0][: MOST_CHARACTERS + 1])
            except LobInputError as reason:
                raise UnknownArmError(str(reason)) from None
            raise

    def _inside(self, context: str) -> list[int]:
        """Return the places of a context's arms."""
        if context not in self._contexts:
            try:
                arms_in_context(self.policy.arms, context)
            except LobInputError as reason:
                raise UnknownContextError(str(reason)) from None
        return self._contexts[context]

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
        self, table: Table, rows: IntArray, sets: Sequence[Places], rng: np.random.Generator
    ) -> tuple[list[int], list[float]]:
        """Return a place in the model's arms, and its probability, for each request.

        Request i is of the user ``rows[i]`` of the table, who may play the arms ``sets[i]``.
        """
        counts, sums = table
        state = state_of(self.policy, counts[rows], sums[rows])
        arms, chances = choose_arms(self.policy, state, self.allowed(sets), rng)
        return arms.tolist(), chances.tolist()

    def allowed(self, sets: Sequence[Places]) -> BoolArray:
        """Return choice sets as kernels take them, of one type, so that they compile once."""
        if all(places is None for places in sets):
            return self.policy.all_arms
        allowed = np.zeros((len(sets), len(self.ids)), np.bool_)
        for row, places in zip(allowed, sets, strict=True):
            row[slice(None) if places is None else places] = True
        return read_only(allowed)
