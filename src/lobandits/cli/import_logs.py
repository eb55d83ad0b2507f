"""``lob import``: rewards of the time before the service, so that known users do not start cold."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from lobandits.cli.options import (
    DEFAULT_PROBLEM,
    LOCAL,
    Problem,
    Store,
    existing,
    need_service,
)
from lobandits.errors import LobInputError

TOGETHER = 1_000  # rewards in one transaction, so that servers go on beside it

EXAMPLES = """\
Let users begin with what their ratings say:

    lob import ratings.csv --user userId --arm genre --reward rating
"""


def import_logs(
    logs: Annotated[
        list[str],
        typer.Argument(help="CSV or Parquet files, a folder or a glob of them; a row is a reward."),
    ],
    user: Annotated[str, typer.Option(help="The column of users.")] = "user",
    arm: Annotated[str, typer.Option(help="The column of arms.")] = "arm",
    reward: Annotated[str, typer.Option(help="The column of rewards.")] = "reward",
    id: Annotated[  # noqa: A002
        str | None,
        typer.Option(help="A column that names each row; by default its file and number do."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="The column of times, dates or seconds since 1970, for models with a half-life; "
            "by default rewards count as of now."
        ),
    ] = None,
    store: Store = LOCAL,
    problem: Problem = DEFAULT_PROBLEM,
) -> None:
    """Count rewards of the time before the service, each once, however often you import them.

    Rows of a file are known by its content, or by --id. Servers may run meanwhile, and take the
    rewards into account at once. Rows of arms that the model does not have are left out.
    """
    need_service()
    from lobandits.learning.source import files_of
    from lobandits.service import DecisionService

    files = [_File(name, (user, arm, reward), id, time) for name in files_of(logs)]
    with DecisionService(None, existing(store), problem=problem) as service:
        arms = set(service.policy.arms)
        left_out = sorted(set().union(*(file.arms for file in files)) - arms)
        if not any(file.arms & arms for file in files):
            raise LobInputError(
                f"no arm of {logs[0]} is one of the model's, {', '.join(sorted(arms)):.200}; "
                f"the column {arm!r} has {', '.join(left_out):.200}"
            )
        counts = dict.fromkeys(("recorded", "already recorded", "conflict", "left out"), 0)
        for file in files:
            rows = file.rows()
            while chunk := list(islice(rows, TOGETHER)):
                known = [row for row in chunk if row["arm"] in arms]
                counts["left out"] += len(chunk) - len(known)
                for status in service.add_history(known):
                    counts[status] += 1
    typer.echo(", ".join(f"{number:,} {what}" for what, number in counts.items() if number))
    if left_out:
        typer.echo(f"arms that the model does not have: {', '.join(left_out):.500}")


class _File:
    """A file of logs, checked as a whole, so that no part of a faulty one is imported."""

    def __init__(
        self, name: str, names: tuple[str, str, str], key: str | None, time: str | None
    ) -> None:
        from lobandits.learning.aggregate import aggregate, check_cells
        from lobandits.learning.source import as_written, check_columns, open_files

        source = open_files([name])
        more = [column for column in (key, time) if column is not None]
        check_columns(source.table.columns, [*names, *more], name)
        self._source = as_written(source, names[:2], names[2]) if source.guessed else source
        self._names, self._key, self._time, self._path = names, key, time, Path(name)
        cells = self._source.fetch(aggregate(self._source.table, names))
        check_cells(self._source, cells, names, skip_empty=False)
        self.arms = {str(arm) for arm in cells.column("arm").unique().to_pylist()}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rewards, each with its id."""
        prefix = "" if self._key else f"{_digest(self._path)} "
        number = 0
        for batch in self._batches():
            for key, time, user, arm, reward in batch:
                number += 1
                name = key if self._key else f"{prefix}{number}"
                when = time if self._time else None
                yield {"id": name, "user": user, "arm": arm, "reward": reward, "time": when}

    def _batches(self) -> Iterator[Sequence[tuple[Any, ...]]]:
        from lobandits.learning.aggregate import as_number

        table = self._source.table
        user, arm, reward = (table[name] for name in self._names)
        key, time = (table[name] if name else user for name in (self._key, self._time))
        chosen = table.select(
            key=key.cast("string"), time=time, user=user.cast("string"), arm=arm.cast("string"),
            reward=as_number(reward),
        )  # fmt: skip
        for batch in self._source.fetch(chosen).to_batches(max_chunksize=50_000):
            yield list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _digest(path: Path) -> str:
    """Return what names a file's rows: its content, whatever it is called."""
    digest = sha256()
    with path.open("rb") as file:
        while part := file.read(2**20):
            digest.update(part)
    return digest.hexdigest()
