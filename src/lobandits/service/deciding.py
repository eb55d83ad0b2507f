"""From stored statistics to arms and their probabilities, for a whole batch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.service.model import Model, state_of
from lobandits.service.store.transaction import StoredStatistics


class Table(NamedTuple):
    """Counts and sums of users, (n_users, n_arms) in the order of a model's arms."""

    counts: IntArray
    sums: FloatArray


def table_of(model: Model, users: Sequence[int], stored: StoredStatistics) -> Table:
    """Return the statistics of ``users``, in their order; arms outside the model are left out."""
    numbers = np.array(users, np.int64)
    order = np.argsort(numbers)
    counts = np.zeros((len(numbers), len(model.ids)), np.int64)
    sums = np.zeros(counts.shape)
    known = stored.arms < len(model.column)
    columns = model.column[np.where(known, stored.arms, 0)]
    kept = known & (columns >= 0)
    rows = order[np.searchsorted(numbers, stored.users[kept], sorter=order)]
    counts[rows, columns[kept]] = stored.plays[kept]
    sums[rows, columns[kept]] = stored.totals[kept]
    return Table(counts, sums)


def choose(
    model: Model,
    table: Table,
    rows: IntArray,
    keys: Sequence[tuple[int, ...] | None],
    rng: np.random.Generator,
) -> tuple[IntArray, FloatArray]:
    """Return a place in the model's arms, and its probability, for each request.

    Request i is of the user ``rows[i]`` of the table, restricted to the arms ``keys[i]``.
    """
    places, chances = np.empty(len(rows), np.int64), np.empty(len(rows))
    groups: dict[tuple[int, ...] | None, list[int]] = {}
    for i, key in enumerate(keys):
        groups.setdefault(key, []).append(i)
    for key, members in groups.items():
        policy, columns, _ = model.restricted(key)
        users = rows[members]
        if key is None:
            counts, sums = table.counts[users], table.sums[users]
        else:
            cells = np.ix_(users, columns)
            counts, sums = table.counts[cells], table.sums[cells]
        state = state_of(policy, counts, sums)
        arms = policy.decide(state, policy.draw(rng, (len(users),)))
        odds = policy.propensities(state)
        places[members] = columns[arms]
        chances[members] = odds[np.arange(len(users)), arms]
    return places, chances
