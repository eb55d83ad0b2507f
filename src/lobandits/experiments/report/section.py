"""One experiment on the page: its figure, its claims, its numbers, its settings."""

from html import escape
from typing import Any

from lobandits.experiments.claims import Finding
from lobandits.experiments.outcome import Outcome
from lobandits.experiments.records import key_text
from lobandits.experiments.report.elements import table, verdict_list
from lobandits.experiments.report.number_tables import reader_tables
from lobandits.experiments.report.verdict_table import interval_text


def section(outcome: Outcome) -> str:
    """Return the section; a mere anchor where the experiment is not shown."""
    experiment = outcome.experiment
    if not outcome.shown:
        return f'<span id="{experiment.name}"></span>'
    data = f" ({escape(outcome.records.title)})" if outcome.records.title else ""
    note = f"<p>{escape(experiment.note)}</p>" if experiment.note else ""
    elements = [
        f'<section id="{experiment.name}">',
        f"<h2>{escape(experiment.title)}{data}</h2>",
        f'<p class="soft">{escape(experiment.place)} · <code>{experiment.name}</code></p>',
        note,
        _figure(outcome),
        *(_claim(findings) for findings in outcome.by_claim),
        *([_numbers(outcome), _settings(outcome)] if outcome.records else []),
        "</section>",
    ]
    return "\n".join(element for element in elements if element)


def _figure(outcome: Outcome) -> str:
    if not outcome.pictures:
        return ""
    wide, narrow = outcome.pictures["wide"], outcome.pictures["narrow"]
    width = float(wide.split('viewBox="', 1)[1].split()[2])
    kind = "single" if width < 400 else ""  # as wide as one panel
    label = escape(outcome.experiment.title)
    return (
        f'<figure class="{kind}" role="img" aria-label="{label}">'
        f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div></figure>'
    )


def _claim(findings: list[Finding]) -> str:
    claim = findings[0].claim
    rows = [
        [f.variant, e.what, f"{e.mean:.4g}", interval_text(e), str(e.n)]
        for f in findings
        if f.evidence
        for e in f.evidence.estimates
    ]
    differences = table([["variant", "difference", "mean", "95%", "users"], *rows])
    every = f"<details><summary>all differences ({len(rows)})</summary>{differences}</details>"
    return (
        f'<div class="claim"><b>{escape(claim.words)}</b> '
        f'<span class="soft">{escape(claim.where)} · <code>{claim.id}</code></span>'
        f'{verdict_list(findings)}<p class="soft">Measured: {escape(claim.statistic)}.</p>'
        f"{every if rows else ''}</div>"
    )


def _numbers(outcome: Outcome) -> str:
    name, value = outcome.experiment.name, outcome.experiment.value
    tables = "".join(map(table, reader_tables(outcome)))
    return (
        f"<details><summary>numbers: {escape(value)}, mean ± standard error</summary>{tables}"
        f'<p class="soft"><a href="data/{name}.csv">CSV with all points</a></p></details>'
    )


def _settings(outcome: Outcome) -> str:
    settings = [record.settings for record in outcome.records.values()]
    common = {k: v for k, v in settings[0].items() if all(s.get(k) == v for s in settings)}
    took = sum(sum(record.cpu_seconds.values()) for record in outcome.records.values())
    terms = [(name, _words(value)) for name, value in common.items()]
    terms.append(("processor time", f"{took:.1f} s"))
    pairs = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in terms)
    links = ", ".join(
        f'<a href="parts/{outcome.keys[key]}.parquet">{escape(key_text(key))}</a>'
        for key in outcome.records
    )
    return (
        f"<details><summary>settings, seed, time</summary><dl>{pairs}</dl>"
        f'<p class="soft">Every user, as Parquet: {links}</p></details>'
    )


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_words(each)}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
