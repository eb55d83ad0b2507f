"""The numbers and the verdicts of a run, as tables and JSON, for machines and for readers."""

import csv
import json
import math
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

import lobandits
from lobandits.experiments.claims import Estimate, Finding
from lobandits.experiments.design import AXES, Key, policy_title
from lobandits.experiments.parts import Record

if TYPE_CHECKING:
    from lobandits.experiments import Outcome, Reproduction

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


def csv_text(outcome: "Outcome") -> str:
    """Return the long table, of every point."""
    rows = list(long_rows(outcome, every=True))
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def reader_tables(outcome: "Outcome") -> list[list[list[str]]]:
    """Return tables of text, the header first: a row per part, or if there is one, per label."""
    groups: dict[tuple[str, ...], dict[Key, Record]] = {}
    for key, record in outcome.found.items():
        groups.setdefault(record.labels, {})[key] = record
    return [_reader_table(records, outcome.experiment.timed) for records in groups.values()]


def _reader_table(records: Mapping[Key, Record], timed: bool) -> list[list[str]]:
    labels = next(iter(records.values())).labels
    titles = [_full_title(label) for label in labels]
    cells = [[_cell(r, label, timed) for label in labels] for r in records.values()]
    if len(records) == 1 or len(labels) > WIDEST:
        return [["", *map(place, records)], *map(list, zip(titles, *cells, strict=True))]
    axes = [axis_values(key) for key in records]
    rows = [[*map(shown, each.values()), *row] for each, row in zip(axes, cells, strict=True)]
    return [[*axes[0], *titles], *rows]


def _full_title(label: str) -> str:
    """Return a policy's name with its options: in tables all variants stand side by side."""
    name, bracket, options = label.partition("(")
    return f"{policy_title(name)} ({options}" if bracket else policy_title(label)


def place(key: Key) -> str:
    """Return a key as readers see it."""
    return ", ".join(f"{axis} = {shown(value)}" for axis, value in axis_values(key).items())


def shown(value: Any) -> str:
    """Return a value as readers see it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cell(record: Record, label: str, timed: bool) -> str:
    """Return mean and standard error, or for times the processor seconds."""
    if timed:
        return f"{record.cpu_seconds[label]:.3g} s"
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


def verdicts_markdown(found: "Reproduction") -> str:
    """Return the verdicts as a table for a document: a row for each claim, with all variants."""
    data = f", ratings: {found.facts['data']}" if found.facts else ""
    columns = ("claim", "where", "verdict and decisive difference (95% interval)")
    lines = [f"Size {found.size}, seed {found.seed}{data}.\n", _line(columns), "|---|---|---|"]
    for outcome in found.outcomes:
        for findings in outcome.by_claim:
            claim = findings[0].claim
            data = f" ({outcome.found.data})" if outcome.found.data else ""
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


def report_json(found: "Reproduction") -> str:
    """Return the report as JSON; ``numbers`` depend on seed, size and ratings alone."""
    numbers = {
        "size": found.size,
        "seed": found.seed,
        "ratings": dict(found.facts),
        "experiments": {o.experiment.name: _experiment(o) for o in found.outcomes},
        "claims": [_finding(f) for f in found.findings if not f.claim.timed],
    }
    times = {
        "seconds": found.seconds,
        "machine": {
            "processors": os.cpu_count(),
            "system": platform.platform(),
            "python": platform.python_version(),
        },
        "experiments": {o.experiment.name: _times(o) for o in found.outcomes},
        "claims": [_finding(f) for f in found.findings if f.claim.timed],
    }
    report = {"lobandits": lobandits.__version__, "numbers": numbers, "times": times}
    return json.dumps(report, indent=1, allow_nan=False) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    """Return a finding with every estimate that decided it."""
    claim, evidence = finding.claim, finding.evidence
    return {
        "id": claim.id,
        "where": claim.where,
        "words": claim.words,
        "statistic": claim.statistic,
        "variant": finding.variant,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "need": evidence.need if evidence else None,
        "estimates": [
            {
                "what": e.what,
                "mean": e.mean,
                "error": _finite(e.error),
                "low": _finite(e.interval()[0]),
                "high": _finite(e.interval()[1]),
                "n": e.n,
            }
            for e in (evidence.estimates if evidence else ())
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _experiment(outcome: "Outcome") -> dict[str, Any]:
    experiment = outcome.experiment
    return {
        "place": experiment.place,
        "title": experiment.title,
        "broken": outcome.broken,
        "value": experiment.value,
        "rows": [] if experiment.timed else list(long_rows(outcome, every=False)),
        "parts": [
            {
                **axis_values(key),
                "file": f"parts/{outcome.keys[key]}.parquet",
                "settings": r.settings,
            }
            for key, r in outcome.found.items()
        ],
    }


def _times(outcome: "Outcome") -> dict[str, Any]:
    return {
        "seconds": outcome.seconds,
        "parts": [
            {**axis_values(key), "seconds": r.seconds, "cpu_seconds": r.cpu_seconds}
            for key, r in outcome.found.items()
        ],
    }
