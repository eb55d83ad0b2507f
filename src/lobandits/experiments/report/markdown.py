"""verdicts.md: the verdicts as a table for a document."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lobandits.experiments.claims import Estimate, Finding

if TYPE_CHECKING:
    from lobandits.experiments.runner import Outcome, Reproduction

COLUMNS = ("claim", "where", "verdict and decisive difference (95% interval)")


def verdicts_markdown(found: "Reproduction") -> str:
    """Return one row for each claim, with all its variants."""
    rows = [_row(outcome, findings) for outcome in found.outcomes for findings in outcome.by_claim]
    data = f", ratings: {found.facts['data']}" if found.facts else ""
    title = f"Size {found.size}, seed {found.seed}{data}.\n"
    lines = [title, _line(COLUMNS), "|---" * len(COLUMNS) + "|", *rows]
    return "\n".join(lines) + "\n"


def _row(outcome: "Outcome", findings: Sequence[Finding]) -> str:
    claim = findings[0].claim
    data = f" ({outcome.found.data})" if outcome.found.data else ""
    words = f"`{claim.id}`{data}: {claim.words}"
    return _line((words, claim.where, "<br>".join(map(_verdict, findings))))


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


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
