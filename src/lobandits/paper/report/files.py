"""The files of a report; report.json keeps what a seed decides apart from what took how long."""

import json
import math
import os
import platform
from typing import Any

import lobandits
from lobandits.basics.files import write_text
from lobandits.paper.claims import Finding
from lobandits.paper.drawing import standalone
from lobandits.paper.experiment import Outcome, Reproduction
from lobandits.paper.parts.record import axis_values
from lobandits.paper.report.page import report_page
from lobandits.paper.report.tables import csv_text, long_rows, verdicts_markdown


def write_report(found: Reproduction) -> None:
    """Write everything into the folder of the run."""
    texts = {
        "report.json": report_json(found),
        "verdicts.md": verdicts_markdown(found),
        "index.html": report_page(found),
    }
    for outcome in found.outcomes:
        name = outcome.experiment.name
        if outcome.records:
            texts[f"data/{name}.csv"] = csv_text(outcome)
        if outcome.pictures:
            texts[f"figures/{name}.svg"] = standalone(outcome.pictures["wide"])
    for folder in ("data", "figures"):
        (found.folder / folder).mkdir(exist_ok=True)
    for name, text in texts.items():
        write_text(found.folder / name, text)


def report_json(found: Reproduction) -> str:
    """Return the report as JSON; ``numbers`` depend on seed, size and ratings alone."""
    numbers = {
        "size": found.size,
        "seed": found.seed,
        "seeds": found.n_seeds,
        "ratings": dict(found.facts),
        "experiments": {o.experiment.name: _numbers(o) for o in found.outcomes},
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


def _numbers(outcome: Outcome) -> dict[str, Any]:
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
                "files": [f"parts/{part}.npz" for part in outcome.keys[key]],
                "settings": record.settings,
            }
            for key, record in outcome.records.items()
        ],
    }


def _times(outcome: Outcome) -> dict[str, Any]:
    return {
        "seconds": outcome.seconds,
        "parts": [
            {**axis_values(key), "seconds": r.seconds, "cpu_seconds": r.cpu_seconds}
            for key, r in outcome.records.items()
        ],
    }


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
