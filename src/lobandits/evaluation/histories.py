"""What some users did, reward by reward in order: what replays and residuals need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.learning import RewardTable
from lobandits.learning.aggregate import Since, as_number, recent
from lobandits.learning.logs import Logs, open_logs
from lobandits.learning.source import Source, as_text


@dataclass(frozen=True, eq=False)
class Histories:
    """Rewards of n users in the order in which they came, user after user.

    ``first[u]`` is where user u begins in the arrays of rewards; ``first`` has n + 1 entries.
    """

    first: IntArray
    arms: IntArray
    rewards: FloatArray
    propensities: FloatArray | None

    @property
    def n_users(self) -> int:
        """The number of users."""
        return len(self.first) - 1

    def take(self, users: IntArray) -> "Histories":
        """Return some users' histories; somebody may come twice."""
        sizes = np.diff(self.first)[users]
        first = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.concatenate([np.arange(self.first[u], self.first[u + 1]) for u in users])
        chance = None if self.propensities is None else self.propensities[rows]
        return Histories(first, self.arms[rows], self.rewards[rows], chance)

    def residuals(self, n_arms: int) -> FloatArray:
        r"""Return rewards less the mean of their user and arm, of users with two or more of it.

        Each is stretched by :math:`\sqrt{n / (n - 1)}`, as the mean is its own reward's too.
        """
        users = np.repeat(np.arange(self.n_users), np.diff(self.first))
        _, cell = np.unique(users * n_arms + self.arms, return_inverse=True)
        counts = np.bincount(cell)
        means = np.bincount(cell, self.rewards) / counts
        n = counts[cell]
        more = n > 1
        stretch = np.sqrt(n[more] / (n[more] - 1))
        found: FloatArray = (self.rewards - means[cell])[more] * stretch
        return found


def read_histories(
    logs: Logs,
    table: RewardTable,
    columns: tuple[str, str, str],
    *,
    time: str | None = None,
    since: Since | None = None,
    propensity: str | None = None,
) -> Histories | str:
    """Return the histories of a table's users from the logs that it sums up, or why there are none.

    They are ordered by ``time``, or else as the rows stand in files and frames.
    """
    if isinstance(logs, RewardTable):
        return "a RewardTable has sums of rewards, not their sequence; give the logs themselves"
    further = [name for name in (time, propensity) if name is not None]
    source = open_logs(logs, columns[:2], columns[2], (*columns, *further))
    if time is None and not source.embedded:
        return "a table of another engine has no order of rows; name the column of times (time)"
    try:
        rows = _rows(source, table, columns, time, since, propensity)
    except LobInputError as error:
        if not source.guessed or error.__cause__ is None:
            raise
        rows = _rows(as_text(source), table, columns, time, since, propensity)
    return _histories(rows, table, propensity)


def _rows(
    source: Source,
    table: RewardTable,
    columns: tuple[str, str, str],
    time: str | None,
    since: Since | None,
    propensity: str | None,
) -> Any:
    """Return the rows of the table's users that have a reward, in order, as an Arrow table."""
    import ibis

    if time is not None and since is not None:
        source = recent(source, time, since, (*columns, time))
    logs = source.table
    user, arm, reward = (logs[name] for name in columns)
    chosen = logs.select(
        user=user,
        arm=arm,
        reward=as_number(reward),
        propensity=as_number(logs[propensity]) if propensity else ibis.literal(1.0),
        place=logs[time] if time else ibis.row_number(),
    )
    whom = table.users.tolist()
    kept = chosen.filter(chosen.user.isin(whom) & chosen.reward.notnull())
    return source.fetch(kept.order_by("place").select("user", "arm", "reward", "propensity"))


def _histories(rows: Any, table: RewardTable, propensity: str | None) -> Histories:
    users = _codes(rows.column("user"), table.users.tolist())
    arms = _codes(rows.column("arm"), list(table.arms), as_name=True)
    rewards = rows.column("reward").to_numpy().astype(np.float64)
    chances = rows.column("propensity").to_numpy().astype(np.float64)
    kept = np.flatnonzero(arms >= 0)
    order = kept[np.argsort(users[kept], kind="stable")]
    sizes = np.bincount(users[order], minlength=table.n_users)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    told = _checked(chances[order], propensity) if propensity else None
    return Histories(first, arms[order], rewards[order], told)


def _checked(chances: FloatArray, column: str) -> FloatArray:
    bad = ~((chances > 0) & (chances <= 1))
    if bad.any():
        raise LobInputError(
            f"column {column!r} holds {chances[bad][0]}, but propensities lie above 0 and at most "
            f"at 1 ({int(bad.sum()):,} rows are not there); correct them, or leave propensity out"
        )
    return chances


def _codes(column: Any, names: Sequence[Any], as_name: bool = False) -> IntArray:
    """Return where each value of a column stands among the names; -1 if it does not."""
    place = {name: i for i, name in enumerate(names)}
    encoded = column.combine_chunks().dictionary_encode()
    values = [str(v) if as_name else v for v in encoded.dictionary.to_pylist()]
    codes = np.array([place.get(value, -1) for value in values], dtype=np.int64)
    found: IntArray = codes[encoded.indices.to_numpy()]
    return found
