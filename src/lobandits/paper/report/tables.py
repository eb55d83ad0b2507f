"""Tables: the numbers, long for machines and wide for readers, and the verdicts in Markdown."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

import numpy as np

from lobandits.paper.claims import Estimate, Finding
from lobandits.paper.experiment import Outcome, Reproduction
from lobandits.paper.parts import Key, Record
from lobandits.paper.parts.policies import policy_title
from lobandits.paper.parts.record import axis_values, key_text, value_text

WIDEST = 12
"""Columns of a table for readers, at most."""


def long_rows(outcome: Outcome, every: bool) -> Iterator[dict[str, Any]]:
    """Yield a row for each part, label and point (the last point only, unless ``every``)."""
    for key, record in outcome.records.items():
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


def csv_text(outcome: Outcome) -> str:
    """Return the long table, of every point."""
    rows = list(long_rows(outcome, every=True))
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def reader_tables(outcome: Outcome) -> list[list[list[str]]]:
    """Return tables of text, the header first: a row per part, or if there is one, per label."""
    groups: dict[tuple[str, ...], dict[Key, Record]] = {}
    for key, record in outcome.records.items():
        groups.setdefault(record.labels, {})[key] = record
    return [_reader_table(records, outcome.experiment.timed) for records in groups.values()]


def _reader_table(records: Mapping[Key, Record], timed: bool) -> list[list[str]]:
    labels = next(iter(records.values())).labels
    titles = [_full_title(label) for label in labels]
    cells = [[_cell(r, label, timed) for label in labels] for r in records.values()]
    if len(records) == 1 or len(labels) > WIDEST:
        return [["", *map(key_text, records)], *map(list, zip(titles, *cells, strict=True))]
    axes = [axis_values(key) for key in records]
    names = list(dict.fromkeys(name for each in axes for name in each))
    rows = [
        [*(value_text(each.get(name, "")) for name in names), *row]
        for each, row in zip(axes, cells, strict=True)
    ]
    return [[*names, *titles], *rows]


def _full_title(label: str) -> str:
    """Return a policy's name with its options: in tables all variants stand side by side."""
    name, bracket, options = label.partition("(")
    return f"{policy_title(name)} ({options}" if bracket else policy_title(label)


def _cell(record: Record, label: str, timed: bool) -> str:
    """Return mean and standard error, or for times the processor seconds."""
    if timed:
        return f"{sum(record.cpu_seconds[label]):.3g} s"
    mean, error = record.curve(label)
    if np.isnan(error[-1]):
        return f"{mean[-1]:,.10g}"
    return f"{_number(mean[-1], error[-1])} ± {error[-1]:.2g}"


def _number(value: float, error: float) -> str:
    """Return a value with as many digits as its error allows.

    Examples
    --------
    >>> _number(123.456, 2.3), _number(0.012345, 0.0002)
    ('123.5', '0.01235')
    """
    digits = 1 if error == 0 else int(np.clip(1 - np.floor(np.log10(error)), 0, 8))
    return f"{value:,.{digits}f}"


def verdicts_markdown(found: Reproduction) -> str:
    """Return the verdicts as a table for a document: a row for each claim, with all variants."""
    data = f", ratings: {found.facts['data']}" if found.facts else ""
    columns = ("claim", "where", "verdict and decisive difference (95% interval)")
    lines = [f"{found.drawn}{data}.\n", _line(columns), "|---|---|---|"]
    for outcome in found.outcomes:
        for findings in outcome.by_claim:
            claim = findings[0].claim
            data = f" ({outcome.records.data})" if outcome.records.data else ""
            words = f"`{claim.id}`{data}: {claim.words}"
            lines.append(_line((words, claim.where, "<br>".join(map(_verdict, findings)))))
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _verdict(finding: Finding) -> str:
    variant = f", {finding.variant}" if finding.variant else ""
    return f"**{finding.verdict}**{variant}: {decisive_text(finding)}"


def decisive_text(finding: Finding) -> str:
    """Return the difference on which the verdict hangs, or why there is none."""
    if finding.evidence is None:
        return finding.reason
    estimate = finding.evidence.decisive
    interval = interval_text(estimate)
    return f"{estimate.what}: {estimate.mean:.4g}{f' ({interval})' if interval else ''}"


def interval_text(estimate: Estimate) -> str:
    """Return the interval in words; nothing for an exact number."""
    if estimate.error == 0 or estimate.n < 2:
        return ""
    low, high = estimate.interval()
    return f"{low:.4g} to {high:.4g}"
