"""What a transaction adds by group: to sums, to the users of comparisons, and to advice."""

from collections.abc import Iterable, Sequence
from typing import Any

from lobandits.service.control_group import CONTROL, MODEL, ControlGroup
from lobandits.service.store import Store
from lobandits.service.store.comparisons import EVER, StoredComparison, read_comparison
from lobandits.service.store.tables import MINUTE
from lobandits.service.store.transaction import (
    NewDecision,
    NewTrial,
    StoredDecision,
    Transaction,
)

Rewarded = Sequence[tuple[StoredDecision, float]]  # decisions with the rewards that they get
Sums = dict[Any, tuple[int, int, float]]  # decisions, rewards and the total of these


class Comparisons:
    """The comparisons of a store, each read once."""

    def __init__(self, store: Store, control: ControlGroup | None) -> None:
        self._store = store
        self._found: dict[int, StoredComparison] = {}
        if control is not None:
            self._found[control.stored.id] = control.stored

    def needed(self, number: int) -> int:
        """Return the rewards after which a user counts in a comparison."""
        if number not in self._found:
            self._found[number] = read_comparison(self._store, number)
        return self._found[number].rewards


def add_groups(
    transaction: Transaction, now: int, writer: int, made: Sequence[NewDecision], rewarded: Rewarded
) -> None:
    """Add decisions and rewards to the sums of their group, of this minute and of all time."""
    rows = _summed(
        ((d.model, d.control_group or MODEL, d.comparison_id or 0) for d in made),
        (
            ((d.model, d.control_group or MODEL, d.comparison_id or 0), reward)
            for d, reward in rewarded
        ),
    )
    transaction.add_groups(
        (minute, *key, writer, *sums)
        for key, sums in rows.items()
        for minute in (EVER, now // MINUTE)
    )


def add_advice(
    transaction: Transaction, writer: int, made: Sequence[NewDecision], rewarded: Rewarded
) -> None:
    """Add decisions of the caller to the sums of what it showed and what the model advised."""
    rows = _summed(
        ((d.arm_id, d.advised) for d in made if d.advised is not None),
        (((d.arm_id, d.advised), reward) for d, reward in rewarded if d.advised is not None),
    )
    transaction.add_advice((*pair, writer, *sums) for pair, sums in rows.items())


def add_trials(
    transaction: Transaction, now: int, rewarded: Rewarded, comparisons: Comparisons
) -> None:
    """Add rewards to the users of their comparison."""
    grouped = (
        ((d.comparison_id, d.user_id, int(d.control_group == CONTROL)), reward)
        for d, reward in rewarded
        if d.comparison_id is not None
    )
    found: dict[int, list[NewTrial]] = {}
    for (number, user, control), (_, n, total) in _summed((), grouped).items():
        enough = n >= comparisons.needed(number)
        mean, when = (total / n, now) if enough else (None, None)
        trial = NewTrial(number, user, control, n, total, now, mean, when)
        found.setdefault(number, []).append(trial)
    for number, trials in found.items():
        transaction.add_trials(comparisons.needed(number), trials)


def _summed(decided: Iterable[Any], rewarded: Iterable[tuple[Any, float]]) -> Sums:
    sums: Sums = {}
    for key in decided:
        decisions, n, total = sums.get(key, (0, 0, 0.0))
        sums[key] = decisions + 1, n, total
    for key, reward in rewarded:
        decisions, n, total = sums.get(key, (0, 0, 0.0))
        sums[key] = decisions, n + 1, total + reward
    return sums
