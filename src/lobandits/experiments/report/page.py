"""index.html: the verdicts first, then every figure with its numbers; nothing from the network."""

from collections import Counter
from datetime import timedelta
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import lobandits
from lobandits.experiments.claims import VERDICTS, Finding
from lobandits.experiments.data import GENERATED
from lobandits.experiments.report.markdown import decisive_text, interval_text
from lobandits.experiments.report.tables import axis_values, reader_tables, shown

if TYPE_CHECKING:
    from lobandits.experiments.runner import Outcome, Reproduction

CLASSES = dict(zip(VERDICTS, ("holds", "fails", "undecided", "untestable"), strict=True))
RULE = (
    "A claim is turned into differences between policies that must be positive, measured on the "
    "same users. It holds if the 95% interval of each lies above 0, does not hold if the interval "
    "of some difference (corrected for their number) lies below 0, and is undecided at this size "
    "otherwise. Where one positive difference is enough, the two rules change places. A claim has "
    "a verdict for each policy, sigma and option that may change it; all are counted."
)


def page_html(found: "Reproduction") -> str:
    """Return the whole page."""
    style = files("lobandits.experiments.report").joinpath("style.css").read_text("utf-8")
    body = "\n".join(
        [_head(found), _summary(found), _contents(found), *map(_section, found.outcomes)]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        "<title>Latent Order Bandits, reproduced</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
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
        rest = {name: value for name, value in found.facts.items() if name != "data"}
        facts = ", ".join(f"{name} {value:,}" for name, value in rest.items()).capitalize()
        lines.append(f'<p class="data">{_about(found.facts["data"])} {escape(facts)}.</p>')
    for outcome in found.broken:
        name, why = outcome.experiment.name, escape(outcome.broken)
        lines.append(f'<p class="data"><b class="fails">{name} broke:</b> {why}</p>')
    return "\n".join([*lines, "</header>"])


def _about(data: str) -> str:
    if data == GENERATED:
        return "No MovieLens was given: the real-data figures use <b>generated data</b>."
    return f"The real-data figures use MovieLens, <b>{escape(data)}</b>."


def _summary(found: "Reproduction") -> str:
    counts = Counter(finding.verdict for finding in found.findings)
    items = [
        f'<li><b class="{CLASSES[verdict]}">{counts[verdict]}</b>{verdict}</li>'
        for verdict in VERDICTS
    ]
    rows = [_row(o, findings) for o in found.outcomes for findings in o.by_claim]
    if not rows:
        return ""
    heads = "<th>claim</th><th>where</th><th>verdicts, and the difference that decides</th>"
    return (
        '<section id="verdicts"><h2>Verdicts</h2>\n'
        f'<ul class="counts">{"".join(items)}</ul>\n<p class="soft">{RULE}</p>\n'
        f'<table class="verdicts"><thead><tr>{heads}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></section>"
    )


def _row(outcome: "Outcome", findings: list[Finding]) -> str:
    claim = findings[0].claim
    return (
        f'<tr><td><a href="#{outcome.experiment.name}">{escape(claim.words)}</a>{_data(outcome)}'
        f'</td><td class="soft">{escape(claim.where)}</td><td>{_verdicts(findings)}</td></tr>'
    )


def _verdicts(findings: list[Finding]) -> str:
    items = [
        f"<li>{_chip(f)} {escape(f.variant)} "
        f"<span class=soft>{escape(decisive_text(f))}</span></li>"
        for f in findings
    ]
    return f"<ul>{''.join(items)}</ul>"


def _chip(finding: Finding) -> str:
    return f'<span class="verdict {CLASSES[finding.verdict]}">{finding.verdict}</span>'


def _data(outcome: "Outcome") -> str:
    data = outcome.found.data
    return f' <span class="soft">[{escape(data)}]</span>' if data else ""


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
        _numbers(outcome),
        _settings(outcome),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _figure(outcome: "Outcome") -> str:
    if not outcome.pictures:
        return ""
    wide, narrow = outcome.pictures["wide"], outcome.pictures["narrow"]
    single = " single" if _is_single(wide) else ""
    label = escape(outcome.experiment.title)
    return (
        f'<figure class="{single.strip()}" role="img" aria-label="{label}">'
        f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div></figure>'
    )


def _is_single(svg: str) -> bool:
    """Return whether a picture has the width of one panel."""
    width = float(svg.split('viewBox="', 1)[1].split()[2])
    return width < 400


def _claim(findings: list[Finding]) -> str:
    claim = findings[0].claim
    rows = [
        f"<tr><td>{escape(f.variant)}</td><td>{escape(e.what)}</td><td>{e.mean:.4g}</td>"
        f"<td>{interval_text(e)}</td><td>{e.n}</td></tr>"
        for f in findings
        if f.evidence
        for e in f.evidence.estimates
    ]
    heads = "".join(f"<th>{h}</th>" for h in ("variant", "difference", "mean", "95%", "users"))
    table = f"<div class=scroll><table><tr>{heads}</tr>{''.join(rows)}</table></div>"
    every = f"<details><summary>all differences ({len(rows)})</summary>{table}</details>"
    return (
        f'<div class="claim"><b>{escape(claim.words)}</b> '
        f'<span class="soft">{escape(claim.where)} · <code>{claim.id}</code></span>'
        f'{_verdicts(findings)}<p class="soft">Measured: {escape(claim.statistic)}.</p>'
        f"{every if rows else ''}</div>"
    )


def _numbers(outcome: "Outcome") -> str:
    if not outcome.found:
        return ""
    name, value = outcome.experiment.name, outcome.experiment.value
    tables = "".join(f"<div class=scroll>{_table(t)}</div>" for t in reader_tables(outcome))
    return (
        f"<details><summary>numbers: {escape(value)}, mean ± standard error</summary>{tables}"
        f'<p class="soft"><a href="data/{name}.csv">CSV with all points</a></p></details>'
    )


def _table(rows: list[list[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows[1:]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _settings(outcome: "Outcome") -> str:
    if not outcome.found:
        return ""
    common = _common([dict(record.settings) for record in outcome.found.values()])
    took = sum(sum(record.cpu_seconds.values()) for record in outcome.found.values())
    terms = [(name, _words(value)) for name, value in common.items()]
    terms.append(("processor time", f"{took:.1f} s"))
    pairs = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in terms)
    links = ", ".join(
        f'<a href="parts/{outcome.keys[key]}.parquet">'
        + escape(", ".join(f"{a} = {shown(v)}" for a, v in axis_values(key).items()))
        + "</a>"
        for key in outcome.found
    )
    return (
        f"<details><summary>settings, seed, time</summary><dl>{pairs}</dl>"
        f'<p class="soft">Every user, as Parquet: {links}</p></details>'
    )


def _common(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the settings that all parts share."""
    first = settings[0]
    return {k: v for k, v in first.items() if all(s.get(k) == v for s in settings)}


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_words(each)}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
