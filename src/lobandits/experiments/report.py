"""What a run leaves behind: index.html, report.json, verdicts.md, CSV files and figures."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING, Any

import lobandits
from lobandits._files import write_text
from lobandits.experiments.claims import RULE, VERDICTS, Finding
from lobandits.experiments.design import GENERATED
from lobandits.experiments.draw import standalone
from lobandits.experiments.tables import (
    csv_text,
    decisive_text,
    interval_text,
    place,
    reader_tables,
    report_json,
    verdicts_markdown,
)

if TYPE_CHECKING:
    from lobandits.experiments import Outcome, Reproduction

CLASSES = dict(zip(VERDICTS, ("holds", "fails", "undecided", "untestable"), strict=True))
STYLE = """
:root {
  color-scheme: light dark;
  --ink: #1b1f24; --soft: #5b636e; --paper: #ffffff; --card: #f5f6f8; --line: #d9dde3;
  --faint: #dfe2e6; --link: #0b5cad;
  --holds: #05603f; --fails: #a33b00; --undecided: #7a5b00; --untestable: #565d66;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ink: #e8eaed; --soft: #a4abb5; --paper: #14171b; --card: #1d2126; --line: #343a42;
    --faint: #2f353c; --link: #79b8ff;
    --holds: #4fd3a5; --fails: #ff9a66; --undecided: #e8c14d; --untestable: #a4abb5;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 62rem; padding: 1.2rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 0.2rem; }
a { color: var(--link); }
p { margin: 0.4rem 0; }
.soft { color: var(--soft); font-size: 0.9rem; }
.counts { display: flex; flex-wrap: wrap; gap: 0.6rem; }
.counts { padding: 0; margin: 1rem 0; list-style: none; }
.counts li { background: var(--card); border-radius: 0.5rem; padding: 0.5rem 0.9rem; }
.counts b { font-size: 1.4rem; display: block; line-height: 1.2; }
.data { background: var(--card); border-left: 4px solid var(--undecided); padding: 0.5rem 0.9rem; }
section { border-top: 1px solid var(--line); padding: 1.4rem 0 0.6rem; }
.verdict { font-weight: 600; white-space: nowrap; }
.verdict::before { display: inline-block; width: 1.2em; }
.holds { color: var(--holds); } .holds::before { content: "✓"; }
.fails { color: var(--fails); } .fails::before { content: "✗"; }
.undecided { color: var(--undecided); } .undecided::before { content: "?"; }
.untestable { color: var(--untestable); } .untestable::before { content: "–"; }
figure { margin: 0.8rem 0; }
figure svg { width: 100%; height: auto; display: block; }
figure svg text { font-family: inherit !important; }
.narrow { display: none; }
.single { max-width: 34rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; }
th { font-weight: 600; vertical-align: bottom; }
th:first-child, td:first-child, .verdicts th, .verdicts td { text-align: left; }
.scroll td { white-space: nowrap; font-variant-numeric: tabular-nums; }
.verdicts { width: 100%; }
.verdicts td { vertical-align: top; }
.claim { background: var(--card); border-radius: 0.5rem; padding: 0.6rem 0.9rem; margin: 0.6rem 0; }
.claim ul, .verdicts ul { margin: 0.3rem 0; padding: 0; list-style: none; }
.claim li, .verdicts li { margin: 0.2rem 0; }
.verdicts ul { margin: 0; }
.verdicts td:nth-child(1) { width: 30%; }
.verdicts td:nth-child(2) { width: 20%; }
details { margin: 0.5rem 0; }
summary { cursor: pointer; color: var(--soft); font-size: 0.9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; font-size: 0.85rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
nav ul { columns: 2; column-gap: 2.2rem; padding-left: 1.1rem; font-size: 0.9rem; }
@media (max-width: 40rem) {
  body { padding: 0.8rem; }
  .wide { display: none; }
  .narrow { display: block; }
  .single { max-width: none; }
  nav ul { columns: 1; }
  .verdicts thead { display: none; }
  .verdicts tr { display: block; padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  .verdicts td { display: block; border: 0; padding: 0.1rem 0; width: auto !important; }
  dl { grid-template-columns: 1fr; }
}
@media print {
  :root { --ink: #000; --soft: #444; --card: #fff; --line: #bbb; --faint: #ddd; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, details:not([open]) { display: none; }
  figure, .claim, .verdicts tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  .scroll { overflow: visible; }
}
"""


def write_report(found: "Reproduction") -> None:
    """Write everything into the folder of the run."""
    texts = {
        "report.json": report_json(found),
        "verdicts.md": verdicts_markdown(found),
        "index.html": _page(found),
    }
    for outcome in found.outcomes:
        name = outcome.experiment.name
        if outcome.found:
            texts[f"data/{name}.csv"] = csv_text(outcome)
        if outcome.pictures:
            texts[f"figures/{name}.svg"] = standalone(outcome.pictures["wide"])
    for folder in ("data", "figures"):
        (found.folder / folder).mkdir(exist_ok=True)
    for name, text in texts.items():
        write_text(found.folder / name, text)


def _page(found: "Reproduction") -> str:
    body = "\n".join(
        [_head(found), _summary(found), _contents(found), *map(_section, found.outcomes)]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        "<title>Latent Order Bandits, reproduced</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _head(found: "Reproduction") -> str:
    took = timedelta(seconds=round(found.seconds))
    lines = [
        "<header><h1>Latent Order Bandits, reproduced</h1>",
        f'<p class="soft">lobandits {lobandits.__version__}, size {found.size}, seed {found.seed}, '
        f"{took} for what was not yet saved. Numbers: "
        '<a href="report.json">report.json</a>, <a href="verdicts.md">verdicts.md</a>.</p>',
    ]
    if found.facts:
        about = (
            "No MovieLens was given: the real-data figures use <b>generated data</b>."
            if found.facts["data"] == GENERATED
            else f"The real-data figures use MovieLens, <b>{escape(found.facts['data'])}</b>."
        )
        rest = {name: value for name, value in found.facts.items() if name != "data"}
        facts = ", ".join(f"{name} {value:,}" for name, value in rest.items()).capitalize()
        lines.append(f'<p class="data">{about} {escape(facts)}.</p>')
    for outcome in found.broken:
        name, why = outcome.experiment.name, escape(outcome.broken)
        lines.append(f'<p class="data"><b class="fails">{name} broke:</b> {why}</p>')
    return "\n".join([*lines, "</header>"])


def _summary(found: "Reproduction") -> str:
    counts = Counter(finding.verdict for finding in found.findings)
    items = [
        f'<li><b class="{CLASSES[verdict]}">{counts[verdict]}</b>{verdict}</li>'
        for verdict in VERDICTS
    ]
    rows = [_row(o, findings) for o in found.outcomes for findings in o.by_claim]
    if not rows:
        return ""
    heads = _cells("th", ("claim", "where", "verdicts, and the difference that decides"))
    return (
        '<section id="verdicts"><h2>Verdicts</h2>\n'
        f'<ul class="counts">{"".join(items)}</ul>\n<p class="soft">{RULE}</p>\n'
        f'<table class="verdicts"><thead><tr>{heads}</tr></thead>\n<tbody>\n'
        f"{chr(10).join(rows)}\n</tbody></table></section>"
    )


def _row(outcome: "Outcome", findings: list[Finding]) -> str:
    claim, data = findings[0].claim, outcome.found.data
    edition = f' <span class="soft">[{escape(data)}]</span>' if data else ""
    return (
        f'<tr><td><a href="#{outcome.experiment.name}">{escape(claim.words)}</a>{edition}'
        f'</td><td class="soft">{escape(claim.where)}</td><td>{_verdicts(findings)}</td></tr>'
    )


def _verdicts(findings: list[Finding]) -> str:
    items = [
        f'<li><span class="verdict {CLASSES[f.verdict]}">{f.verdict}</span> {escape(f.variant)} '
        f"<span class=soft>{escape(decisive_text(f))}</span></li>"
        for f in findings
    ]
    return f"<ul>{''.join(items)}</ul>"


def _contents(found: "Reproduction") -> str:
    listed = [outcome.experiment for outcome in found.outcomes if outcome.shown]
    items = [f'<li><a href="#{e.name}">{e.name}</a> {escape(e.title)}</li>' for e in listed]
    return f"<nav><ul>\n{chr(10).join(items)}\n</ul></nav>" if items else ""


def _section(outcome: "Outcome") -> str:
    experiment = outcome.experiment
    if not outcome.shown:
        return f'<span id="{experiment.name}"></span>'
    data = f" ({escape(outcome.found.title)})" if outcome.found.title else ""
    note = f"<p>{escape(experiment.note)}</p>" if experiment.note else ""
    parts = [
        f'<section id="{experiment.name}">',
        f"<h2>{escape(experiment.title)}{data}</h2>",
        f'<p class="soft">{escape(experiment.place)} · <code>{experiment.name}</code></p>',
        note,
        _figure(outcome),
        *(_claim(findings) for findings in outcome.by_claim),
        *([_numbers(outcome), _settings(outcome)] if outcome.found else []),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _figure(outcome: "Outcome") -> str:
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
    table = _table([["variant", "difference", "mean", "95%", "users"], *rows])
    every = f"<details><summary>all differences ({len(rows)})</summary>{table}</details>"
    return (
        f'<div class="claim"><b>{escape(claim.words)}</b> '
        f'<span class="soft">{escape(claim.where)} · <code>{claim.id}</code></span>'
        f'{_verdicts(findings)}<p class="soft">Measured: {escape(claim.statistic)}.</p>'
        f"{every if rows else ''}</div>"
    )


def _numbers(outcome: "Outcome") -> str:
    name, value = outcome.experiment.name, outcome.experiment.value
    tables = "".join(map(_table, reader_tables(outcome)))
    return (
        f"<details><summary>numbers: {escape(value)}, mean ± standard error</summary>{tables}"
        f'<p class="soft"><a href="data/{name}.csv">CSV with all points</a></p></details>'
    )


def _table(rows: list[list[str]]) -> str:
    """Return a table whose first row is its head."""
    head, *body = rows
    lines = "".join(f"<tr>{_cells('td', row)}</tr>" for row in body)
    return (
        f"<div class=scroll><table><thead><tr>{_cells('th', head)}</tr></thead>"
        f"<tbody>{lines}</tbody></table></div>"
    )


def _cells(tag: str, texts: Sequence[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def _settings(outcome: "Outcome") -> str:
    settings = [record.settings for record in outcome.found.values()]
    common = {k: v for k, v in settings[0].items() if all(s.get(k) == v for s in settings)}
    took = sum(sum(record.cpu_seconds.values()) for record in outcome.found.values())
    terms = [(name, _words(value)) for name, value in common.items()]
    terms.append(("processor time", f"{took:.1f} s"))
    pairs = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in terms)
    links = ", ".join(
        f'<a href="parts/{outcome.keys[key]}.parquet">{escape(place(key))}</a>'
        for key in outcome.found
    )
    return (
        f"<details><summary>settings, seed, time</summary><dl>{pairs}</dl>"
        f'<p class="soft">Every user, as Parquet: {links}</p></details>'
    )


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_words(each)}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
