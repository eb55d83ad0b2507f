"""What every observer does: note what a transaction has written, in that transaction."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from lobandits.service.store.transaction import NewDecision, StoredDecision, Transaction

Sums = dict[Any, tuple[int, int, float]]  # decisions, rewards and the total of these, by a key


class Rewarded(NamedTuple):
    """A decision with the reward that it gets now; ``default`` if that stands in for none."""

    decision: StoredDecision
    reward: float
    default: bool


class Observer(Protocol):
    """Keeps sums of its own of what happens."""

    def note(
        self,
        transaction: Transaction,
        now: int,
        made: Sequence[NewDecision],
        rewarded: Sequence[Rewarded],
    ) -> None:
        """Add new decisions, and rewards of these or earlier ones, to the sums."""


def summed(decided: Iterable[Any], rewarded: Iterable[tuple[Any, float]]) -> Sums:
    """Return decisions, rewards and the total of these by key."""
    sums: Sums = {key: (decisions, 0, 0.0) for key, decisions in Counter(decided).items()}
    for key, reward in rewarded:
        decisions, n, total = sums.get(key, (0, 0, 0.0))
        sums[key] = decisions, n + 1, total + reward
    return sums
