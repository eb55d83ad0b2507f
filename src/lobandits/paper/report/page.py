"""The page of a report, one file without anything to fetch: verdicts first, then experiments."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from html import escape
from importlib.resources import files
from typing import Any

import lobandits
from lobandits.paper.claims import RULE, VERDICTS, Finding
from lobandits.paper.experiment import Outcome, Reproduction
from lobandits.paper.parts import GENERATED
from lobandits.paper.parts.record import key_text
from lobandits.paper.report.tables import decisive_text, interval_text, reader_tables


def report_page(found: Reproduction) -> str:
    """Return the page as HTML."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    body = "\n".join(
        [_header(found), _verdicts(found), _contents(found), *map(section, found.outcomes)]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        "<title>Latent Order Bandits, reproduced</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _header(found: Reproduction) -> str:
    took = timedelta(seconds=round(found.seconds))
    lines = [
        "<header><h1>Latent Order Bandits, reproduced</h1>",
        f'<p class="soft">lobandits {lobandits.__version__}. {found.drawn}. '
        f"{took} for what was not yet saved. Numbers: "
        '<a href="report.json">report.json</a>, <a href="verdicts.md">verdicts.md</a>.</p>',
    ]
    if found.facts:
        lines.append(_ratings(found))
    for outcome in found.broken:
        name, why = outcome.experiment.name, escape(outcome.broken)
        lines.append(f'<p class="data"><b class="fails">{name} broke:</b> {why}</p>')
    return "\n".join([*lines, "</header>"])


def _ratings(found: Reproduction) -> str:
    about = (
        f"No MovieLens was given: the real-data figures use <b>{escape(found.facts['data'])}</b>. "
        "Planted orders are what the policies under test assume; such figures are no evidence."
        if found.facts["data"] in GENERATED.values()
        else f"The real-data figures use MovieLens, <b>{escape(found.facts['data'])}</b>."
    )
    rest = {name: value for name, value in found.facts.items() if name != "data"}
    facts = ", ".join(f"{name} {value:,}" for name, value in rest.items()).capitalize()
    return f'<p class="data">{about} {escape(facts)}.</p>'


def _verdicts(found: Reproduction) -> str:
    counts = Counter(finding.verdict for finding in found.findings)
    items = [
        f'<li><b class="{VERDICT_CLASSES[verdict]}">{counts[verdict]}</b>{verdict}</li>'
        for verdict in VERDICTS
    ]
    rows = [_claim_row(o, findings) for o in found.outcomes for findings in o.by_claim]
    if not rows:
        return ""
    heads = cells("th", ("claim", "where", "verdicts, and the difference that decides"))
    return (
        '<section id="verdicts"><h2>Verdicts</h2>\n'
        f'<ul class="counts">{"".join(items)}</ul>\n<p class="soft">{RULE}</p>\n'
        f'<table class="verdicts"><thead><tr>{heads}</tr></thead>\n<tbody>\n'
        f"{chr(10).join(rows)}\n</tbody></table></section>"
    )


def _claim_row(outcome: Outcome, findings: list[Finding]) -> str:
    claim, data = findings[0].claim, outcome.records.data
    edition = f' <span class="soft">[{escape(data)}]</span>' if data else ""
    return (
        f'<tr><td><a href="#{outcome.experiment.name}">{escape(claim.words)}</a>{edition}'
        f'</td><td class="soft">{escape(claim.where)}</td><td>{verdict_list(findings)}</td></tr>'
    )


def _contents(found: Reproduction) -> str:
    listed = [outcome.experiment for outcome in found.outcomes if outcome.shown]
    items = [f'<li><a href="#{e.name}">{e.name}</a> {escape(e.title)}</li>' for e in listed]
    return f"<nav><ul>\n{chr(10).join(items)}\n</ul></nav>" if items else ""


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
    label = escape(outcome.experiment.title)
    return (
        f'<figure role="img" aria-label="{label}">'
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
    took = sum(sum(map(sum, r.cpu_seconds.values())) for r in outcome.records.values())
    terms = [(name, _words(value)) for name, value in common.items()]
    terms.append(("processor time", f"{took:.1f} s"))
    pairs = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in terms)
    links = ", ".join(
        f'<a href="parts/{part}.npz">{escape(key_text(key)) or "all"}</a>'
        for key in outcome.records
        for part in outcome.keys[key]
    )
    return (
        f"<details><summary>settings, seed, time</summary><dl>{pairs}</dl>"
        f'<p class="soft">Every user, for NumPy: {links}</p></details>'
    )


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_words(each)}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


VERDICT_CLASSES = dict(zip(VERDICTS, ("holds", "fails", "undecided", "untestable"), strict=True))
"""Their names in page.css."""


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first row is its head."""
    head, *body = rows
    lines = "".join(f"<tr>{cells('td', row)}</tr>" for row in body)
    return (
        f"<div class=scroll><table><thead><tr>{cells('th', head)}</tr></thead>"
        f"<tbody>{lines}</tbody></table></div>"
    )


def cells(tag: str, texts: Sequence[str]) -> str:
    """Return the cells of a row."""
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def verdict_list(findings: Sequence[Finding]) -> str:
    """Return the verdicts on a claim's variants, each with what decided it."""
    items = [
        f'<li><span class="verdict {VERDICT_CLASSES[f.verdict]}">{f.verdict}</span> '
        f"{escape(f.variant)} <span class=soft>{escape(decisive_text(f))}</span></li>"
        for f in findings
    ]
    return f"<ul>{''.join(items)}</ul>"
