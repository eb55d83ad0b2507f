"""The numbers of an experiment: one long table for machines, short ones for readers."""

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from lobandits._files import write_atomic
from lobandits.experiments.design import Key
from lobandits.experiments.draw import policy_title
from lobandits.experiments.record import Record

if TYPE_CHECKING:
    from lobandits.experiments.runner import Outcome

AXES = {"n_states": "m", "alpha": "alpha", "q": "q", "sigma": "sigma", "measure": "measure"}
"""How axes are called in tables."""
WIDEST = 12
"""Columns of a table for readers, at most."""


def axis_values(key: Key) -> dict[str, Any]:
    """Return the values of a key under the names that readers know."""
    return {AXES.get(axis, axis): value for axis, value in key}


def long_rows(outcome: "Outcome", every: bool) -> Iterator[dict[str, Any]]:
    """Yield a row for each part, label and point (the last point only, unless ``every``)."""
    for key, record in outcome.found.items():
        for label in record.labels:
            mean, error = record.curve(label)
            for i in range(len(mean)) if every else [len(mean) - 1]:
                yield {
                    **axis_values(key),
                    "label": label,
                    "round": int(record.points[i]),
                    "mean": float(mean[i]),
                    "error": None if np.isnan(error[i]) else float(error[i]),
                    "users": record.n_users,
                }


def write_csv(path: Path, outcome: "Outcome") -> None:
    """Write the long table."""
    rows = list(long_rows(outcome, every=True))
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)

    def fill(file: IO[bytes]) -> None:
        file.write(text.getvalue().encode())

    write_atomic(path, fill)


def reader_tables(outcome: "Outcome") -> list[list[list[str]]]:
    """Return tables of text, the header first: a row per part, or if there is one, per label."""
    groups: dict[tuple[str, ...], dict[Key, Record]] = {}
    for key, record in outcome.found.items():
        groups.setdefault(record.labels, {})[key] = record
    timed = outcome.experiment.timed
    return [
        _by_label(records, timed)
        if len(records) == 1 or len(labels) > WIDEST
        else _by_part(records, timed)
        for labels, records in groups.items()
    ]


def _by_part(records: Mapping[Key, Record], timed: bool) -> list[list[str]]:
    first_key, first = next(iter(records.items()))
    header = [*axis_values(first_key), *map(full_title, first.labels)]
    rows = [
        [*map(shown, axis_values(key).values()), *(cell(r, label, timed) for label in r.labels)]
        for key, r in records.items()
    ]
    return [header, *rows]


def _by_label(records: Mapping[Key, Record], timed: bool) -> list[list[str]]:
    labels = next(iter(records.values())).labels
    heads = [", ".join(f"{a} = {shown(v)}" for a, v in axis_values(k).items()) for k in records]
    rows = [
        [full_title(label), *(cell(r, label, timed) for r in records.values())] for label in labels
    ]
    return [["", *heads], *rows]


def full_title(label: str) -> str:
    """Return a policy's name with its options: in tables all variants stand side by side."""
    name, bracket, options = label.partition("(")
    return f"{policy_title(name)} ({options}" if bracket else policy_title(label)


def shown(value: Any) -> str:
    """Return a value as readers see it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def cell(record: Record, label: str, timed: bool) -> str:
    """Return mean and standard error, or for times the processor seconds."""
    if timed:
        return f"{record.cpu_seconds[label]:.3g} s"
    mean, error = record.curve(label)
    if np.isnan(error[-1]):
        return f"{mean[-1]:,.10g}"
    return f"{number(mean[-1], error[-1])} ± {error[-1]:.2g}"


def number(value: float, error: float) -> str:
    """Return a value with as many digits as its error allows.

    Examples
    --------
    >>> number(123.456, 2.3), number(0.012345, 0.0002)
    ('123.5', '0.01235')
    """
    digits = 1 if error == 0 else int(np.clip(1 - np.floor(np.log10(error)), 0, 8))
    return f"{value:,.{digits}f}"
