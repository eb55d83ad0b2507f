"""Elements that stand in several places of the page: tables, and lists of verdicts."""

from collections.abc import Sequence
from html import escape

from lobandits.experiments.claims import VERDICTS, Finding
from lobandits.experiments.report.verdict_table import decisive_text

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
