"""The apprentice: the caller's own system shows arms, and the model says silently what it would."""

from collections.abc import Sequence
from typing import Any

from lobandits.service.observers.observer import Rewarded, summed
from lobandits.service.store import Store
from lobandits.service.store.models import OF, StoredNames
from lobandits.service.store.tables import advice
from lobandits.service.store.transaction import NewDecision, Transaction

Row = dict[str, Any]


class Apprentice:
    """Adds up what callers showed and what the model advised; ``writer`` is this process."""

    def __init__(self, writer: int) -> None:
        self._writer = writer

    def note(
        self,
        transaction: Transaction,
        now: int,
        made: Sequence[NewDecision],
        rewarded: Sequence[Rewarded],
    ) -> None:
        """Add decisions that callers made by themselves, and their rewards."""
        shown = [(d.arm_id, d.advised) for d in made if d.advised is not None]
        earned = [
            ((d.arm_id, d.advised), reward) for d, reward, _ in rewarded if d.advised is not None
        ]
        if shown or earned:
            sums = summed(shown, earned).items()
            transaction.add_sums(advice, [(*pair, self._writer, *each) for pair, each in sums])


def advice_report(store: Store, names: StoredNames, problem: str) -> Row | None:
    """Return how often the model would have chosen another arm than the caller."""
    pairs = store.rows(
        "SELECT shown, advised, sum(decisions), sum(rewards), sum(total) "
        f"FROM advice JOIN arms ON id = shown WHERE {OF} GROUP BY shown, advised",
        problem=problem,
    )
    if not pairs:
        return None
    same = [row for row in pairs if row[0] == row[1]]
    other = [row for row in pairs if row[0] != row[1]]
    every = sum(int(row[2]) for row in pairs)
    changes = sorted(other, key=lambda row: -int(row[2]))
    return {
        "decisions": every,
        "changed": sum(int(row[2]) for row in other) / every,
        "agreed": _rewards(same),
        "differed": _rewards(other),
        "changes": [
            {
                "shown": names.arm(shown),
                "advised": names.arm(advised),
                "decisions": int(decisions),
                "mean": total / int(rewards) if rewards else None,
            }
            for shown, advised, decisions, rewards, total in changes[:100]
        ],
    }


def _rewards(rows: list[Any]) -> Row:
    decisions, rewards = (sum(int(row[i]) for row in rows) for i in (2, 3))
    total = sum(row[4] for row in rows)
    mean = total / rewards if rewards else None
    return {"decisions": decisions, "rewards": rewards, "mean": mean}
