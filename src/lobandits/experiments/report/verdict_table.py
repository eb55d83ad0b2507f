"""The verdicts as a table in Markdown, and in words what decided them."""

from collections.abc import Sequence

from lobandits.experiments.claims import Estimate, Finding
from lobandits.experiments.outcome import Reproduction


def verdicts_markdown(found: Reproduction) -> str:
    """Return the verdicts as a table for a document: a row for each claim, with all variants."""
    data = f", ratings: {found.facts['data']}" if found.facts else ""
    columns = ("claim", "where", "verdict and decisive difference (95% interval)")
    lines = [f"Size {found.size}, seed {found.seed}{data}.\n", _line(columns), "|---|---|---|"]
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
