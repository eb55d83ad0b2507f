"""A model: a policy that is served, and how it decides on rows of the store."""

from collections.abc import Iterable, Sequence

import numpy as np

from lobandits.basics.checks import BoolArray, read_only
from lobandits.errors import LobError, LobInputError
from lobandits.orders.arms import arm_index
from lobandits.orders.contexts import arms_in_context, contexts_of, name_in_context
from lobandits.service.errors import (
    UnknownArmError,
    UnknownContextError,
    UnreadableModelError,
)
from lobandits.service.requests import MOST_CHARACTERS
from lobandits.service.served_policy import decoded, microseconds_of, state_of
from lobandits.service.store import Store
from lobandits.service.store.models import DEFAULT_PROBLEM, arm_numbers, read_model
from lobandits.service.store.transaction import StoredStatistics
from lobandits.statistics import FadingState, State

Places = list[int] | None  # of allowed arms in the model, in any order; None for all arms


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
        self.half_life = microseconds_of(self.policy)
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

    def place(self, arm: str, context: str | None) -> int:
        """Return the place of an arm, which a context's name precedes."""
        places = self.places([arm], context)
        assert places is not None
        return places[0]

    def _inside(self, context: str) -> list[int]:
        """Return the places of a context's arms."""
        if context not in self._contexts:
            try:
                arms_in_context(self.policy.arms, context)
            except LobInputError as reason:
                raise UnknownContextError(str(reason)) from None
        return self._contexts[context]

    def state(self, users: Sequence[int], stored: StoredStatistics, now: int) -> State:
        """Return what is known of ``users``, in their order, of the arms of this model.

        What faded by another half-life counts as nothing recent.
        """
        columns = self.column.take(stored.arms, mode="clip")
        kept = columns >= 0
        numbers = np.array(users, np.int64)
        order = np.argsort(numbers)
        rows = order[np.searchsorted(numbers, stored.users[kept], sorter=order)]
        cells, shape = (rows, columns[kept]), (len(users), len(self.ids))
        counts, sums = np.zeros(shape, np.int64), np.zeros(shape)
        counts[cells], sums[cells] = stored.plays[kept], stored.totals[kept]
        if self.half_life is None:
            return state_of(self.policy, counts, sums)
        weights, weighted, squares, epochs = np.zeros((4, *shape))
        fits = stored.half_lives[kept] == self.half_life
        for part, values in (
            (weights, stored.weights),
            (weighted, stored.weighted),
            (squares, stored.squares),
            (epochs, stored.epochs),
        ):
            part[cells] = values[kept] * fits
        clocks, half_lives = (
            np.full(len(users), value) for value in (now / self.half_life, self.half_life / 1e6)
        )
        carries, p = np.zeros(shape), self.policy.feature_columns
        return FadingState(
            counts, sums, carries, weights, weighted, squares, epochs, clocks, half_lives,
            features=np.zeros((len(users), p)) if p else None,
        )  # fmt: skip

    def allowed(self, sets: Sequence[Places]) -> BoolArray:
        """Return choice sets as kernels take them, of one type, so that they compile once."""
        if all(places is None for places in sets):
            return self.policy.all_arms
        allowed = np.zeros((len(sets), len(self.ids)), np.bool_)
        for row, places in zip(allowed, sets, strict=True):
            row[slice(None) if places is None else places] = True
        return read_only(allowed)
