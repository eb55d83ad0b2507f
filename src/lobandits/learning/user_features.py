"""Features of the users of logs: columns of the logs themselves, or of a table of users."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.basics.words import counted
from lobandits.beliefs.features import KINDS, Features, text_of
from lobandits.errors import LobInputError
from lobandits.learning.logs import Logs, open_table
from lobandits.learning.table import RewardTable

Wanted = Sequence[str] | Mapping[str, str | None]
"""Names of features, or their kinds by name; None for the kind that the data has."""

FORETELLS = 0.5  # of the variance of users' means: no honest feature does


class UserFeatures(NamedTuple):
    """What is known of users before their first reward."""

    features: Features
    x: FloatArray  # (n, p): of the users of a `RewardTable`, in its order
    concerns: tuple[str, ...] = ()  # what a person should know of them, in sentences

    def take(self, users: Any) -> "UserFeatures":
        """Return those of some users."""
        return self._replace(x=self.x[users])


def wanted_features(features: Wanted) -> dict[str, str | None]:
    """Return the kinds of the features by name; "age:number" states one."""
    if isinstance(features, str) or not isinstance(features, Mapping | Sequence):
        raise LobInputError(f"features must be a list of columns, got {features!r}")
    if isinstance(features, Mapping):
        return dict(features)
    kinds: dict[str, str | None] = {}
    for name in features:
        plain, _, kind = str(name).rpartition(":")
        kinds.update({plain: kind} if plain and kind in KINDS else {str(name): None})
    if not kinds:
        raise LobInputError("features is empty; name at least one column, or leave it out")
    return kinds


def read_user_features(
    table: RewardTable,
    features: Wanted,
    logs: Logs,
    user: str,
    users: Any = None,
    time: str | None = None,
    others: Sequence[str | None] = (),
) -> UserFeatures:
    """Return the features of a table's users, from the logs that it sums up, or from ``users``.

    Parameters
    ----------
    table
        Whose users.
    features
        Names of the columns, or their kinds by name.
    logs, user, time
        Where the users and, unless there are ``users``, the features are; of a feature that changes
        the last value counts, by time or else by row.
    users
        A table with a row for each user: a file, a frame, or an ibis table.
    others
        Columns that are no features: of arms, rewards, times and contexts.
    """
    kinds = wanted_features(features)
    for name in kinds:
        if name in (user, *others):
            raise LobInputError(
                f"column {name!r} cannot be a feature: it holds the users, arms, rewards, contexts "
                "or times; leave it out"
            )
    source = logs if users is None else users
    if isinstance(source, RewardTable):
        raise LobInputError(
            "a RewardTable has no columns of features; give users, a table with a row for each user"
        )
    rows = _rows(source, user, list(kinds), time if users is None else None)
    columns, changed, there = _last_values(rows, table, user, list(kinds))
    if not there:
        raise LobInputError(
            f"none of the {table.n_users:,} users of the logs is in the column {user!r} of users, "
            f"which has {rows.column(user)[0].as_py()!r}; are they the same names?"
        )
    fitted = Features.of(columns, {n: kind for n, kind in kinds.items() if kind is not None})
    x = fitted.encode(columns)
    concerns = [
        f"feature {name!r} changes for {counted(n, 'user')}; the last value counts"
        for name, n in changed.items()
        if n
    ]
    if there < table.n_users:
        concerns.append(
            f"{table.n_users - there:,} of {table.n_users:,} users of the logs have no features"
        )
    return UserFeatures(fitted, x, (*concerns, *leaking(table, fitted, x)))


def _rows(source: Any, user: str, names: list[str], time: str | None) -> Any:
    """Return the distinct values of users, with where they come last, as an Arrow table."""
    import ibis

    columns = [user, *names, *([time] if time else [])]
    opened = open_table(source, columns)
    chosen = opened.table.select(
        **{name: opened.table[name] for name in (user, *names)},
        **{PLACE: opened.table[time] if time else ibis.row_number()},
    )
    last = chosen.group_by(user, *names).aggregate(**{PLACE: chosen[PLACE].max()})
    return opened.fetch(last.order_by(PLACE))


PLACE = "place of the row"


def _last_values(
    rows: Any, table: RewardTable, user: str, names: list[str]
) -> tuple[dict[str, list[Any]], dict[str, int], int]:
    """Return the last value of each feature by user, how many users' change, and who is there."""
    place = {text_of(value): i for i, value in enumerate(table.users.tolist())}
    at = [place.get(text_of(value), -1) for value in rows.column(user).to_pylist()]
    columns, changed = {}, {}
    for name in names:
        values: list[Any] = [None] * table.n_users
        several = set()
        for u, value in zip(at, rows.column(name).to_pylist(), strict=True):
            if u >= 0 and text_of(value) is not None:
                if values[u] is not None and values[u] != value:
                    several.add(u)
                values[u] = value
        columns[name], changed[name] = values, len(several)
    return columns, changed, len(set(at) - {-1})


def leaking(table: RewardTable, features: Features, x: FloatArray) -> list[str]:
    """Say which features foretell users' rewards better than the users' own other rewards do.

    Both by the share of the variance of users' average rewards, less those of the arms: a feature's
    own fit, and the square of the correlation of a user's averages over two halves of the arms.
    """
    means = np.nan_to_num(table.means - np.nanmean(table.means, axis=0))
    tried = (table.counts > 0).astype(np.float64)

    def average(some: slice) -> tuple[FloatArray, FloatArray]:
        number = tried[:, some].sum(axis=1)
        return means[:, some].sum(axis=1) / np.maximum(number, 1.0), number > 0

    (one, in_one), (two, in_two), (all_, _) = map(
        average, (slice(0, None, 2), slice(1, None, 2), slice(None))
    )
    both = (in_one > 0) & (in_two > 0)
    if both.sum() < 3 or not (one[both].std() > 0 and two[both].std() > 0):
        return []
    own = float(np.corrcoef(one[both], two[both])[0, 1]) ** 2
    sentences = []
    for name, place in features.places.items():
        columns = np.column_stack([np.ones(len(x)), x[:, place]])
        left = all_ - columns @ np.linalg.lstsq(columns, all_, rcond=None)[0]
        n, used = columns.shape
        fit = 1.0 - left.var() / all_.var() * (n - 1) / max(n - used, 1)
        if fit > max(FORETELLS, own):
            sentences.append(
                f"feature {name!r} foretells {100 * fit:.0f} % of what users' rewards differ by, "
                f"their own other rewards {100 * own:.0f} %; does it follow from the rewards? If "
                "so, leave it out"
            )
    return sentences


def path_of(users: Any) -> str | None:
    """Return the file that a table of users is, for the options of a model; None for others."""
    return os.fspath(users) if isinstance(users, str | os.PathLike) else None
