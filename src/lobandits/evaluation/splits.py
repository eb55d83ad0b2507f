"""Who teaches and who is judged: users of a log, in several splits."""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import IntArray
from lobandits.errors import LobInputError
from lobandits.learning import RewardTable

LEAST_USERS = 12


class Split(NamedTuple):
    """Users by number: those who teach, and those who are judged."""

    teachers: IntArray
    judged: IntArray

    @classmethod
    def of(cls, fold: IntArray, judged: int) -> "Split":
        """Return the split in which the users of one fold are judged."""
        return cls(np.flatnonzero(fold != judged), np.flatnonzero(fold == judged))


def sample_users(table: RewardTable, most: int, rng: np.random.Generator) -> RewardTable:
    """Return at most so many users, drawn at random; refuse too few."""
    if table.n_users < LEAST_USERS:
        raise LobInputError(
            f"evaluating needs at least {LEAST_USERS} users, some to teach and some to be judged, "
            f"got {table.n_users}"
        )
    if table.n_users <= most:
        return table
    return table.take(np.sort(rng.choice(table.n_users, size=most, replace=False))).filter()


def split_users(
    table: RewardTable, splits: int, rng: np.random.Generator
) -> tuple[RewardTable, list[Split], list[str]]:
    """Return users in splits, without arms that nobody tried on one side of some split.

    Every user is judged in one split, and teaches in the others. The arms left out come last.
    """
    fold, dropped = rng.permutation(table.n_users) % splits, list[str]()
    while True:
        sides = [table.counts[fold == f].sum(axis=0) for f in range(splits)]
        known = np.all([side > 0 for side in sides], axis=0)
        if known.all():
            return table, [Split.of(fold, f) for f in range(splits)], dropped
        dropped += [name for name, there in zip(table.arms, known, strict=True) if not there]
        kept = table.of_arms(np.flatnonzero(known))
        left = kept.counts.sum(axis=1) > 0
        table, fold = kept.filter(), fold[left]
        if table.n_arms < 2 or table.n_users < LEAST_USERS:
            raise LobInputError(
                f"only {table.n_arms} arms were tried by enough of {table.n_users} users to teach "
                "and to be judged; give more logs"
            )
