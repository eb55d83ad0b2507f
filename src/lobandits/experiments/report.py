"""What a run leaves behind: index.html, report.json, verdicts.md, CSV files and figures.

The page has the verdicts first, then every figure with its numbers, and nothing from the network.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import lobandits
from lobandits._files import write_atomic
from lobandits.experiments.claims import VERDICTS, Finding
from lobandits.experiments.draw import standalone
from lobandits.experiments.parts import GENERATED
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
    from lobandits.experiments.runner import Outcome, Reproduction

CLASSES = dict(zip(VERDICTS, ("holds", "fails", "undecided", "untestable"), strict=True))
RULE = (
    "A claim is turned into differences between policies that must be positive, measured on the "
    "same users. It holds if the 95% interval of each lies above 0, does not hold if the interval "
    "of some difference (corrected for their number) lies below 0, and is undecided at this size "
    "otherwise. Where one positive difference is enough, the two rules change places. A claim has "
    "a verdict for each policy, sigma and option that may change it; all are counted."
)


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
        _write(found.folder / name, text)


def _write(path: Path, text: str) -> None:
    def fill(file: IO[bytes]) -> None:
        file.write(text.encode())

    write_atomic(path, fill)


def _page(found: "Reproduction") -> str:
    style = files("lobandits.experiments").joinpath("report.css").read_text("utf-8")
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
        _numbers(outcome),
        _settings(outcome),
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
    if not outcome.found:
        return ""
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
    if not outcome.found:
        return ""
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
