"""The page of a report, one file without anything to fetch: verdicts first, then experiments."""

from collections import Counter
from datetime import timedelta
from html import escape
from importlib.resources import files

import lobandits
from lobandits.experiments.claims import RULE, VERDICTS, Finding
from lobandits.experiments.outcome import Outcome, Reproduction
from lobandits.experiments.parts import GENERATED
from lobandits.experiments.report.elements import VERDICT_CLASSES, cells, verdict_list
from lobandits.experiments.report.section import section


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
        f'<p class="soft">lobandits {lobandits.__version__}, size {found.size}, seed {found.seed}, '
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
        "No MovieLens was given: the real-data figures use <b>generated data</b>."
        if found.facts["data"] == GENERATED
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
