"""verdicts.md: the verdicts as a table for a document."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Estimate, Finding

if TYPE_CHECKING:
    from lobandits.experiments.runner import Outcome, Reproduction

COLUMNS = ("claim", "where", "variant", "verdict", "decisive difference", "95% interval")


def verdicts_markdown(found: "Reproduction") -> str:
    """Return one row for each claim and variant."""
    rows = [_row(outcome, f) for outcome in found.outcomes for f in outcome.findings]
    data = f", ratings: {found.facts['data']}" if found.facts else ""
    title = f"Size {found.size}, seed {found.seed}{data}.\n"
    return "\n".join([title, _line(list(COLUMNS)), "|---" * len(COLUMNS) + "|", *rows]) + "\n"


def _row(outcome: "Outcome", finding: Finding) -> str:
    claim, evidence = finding.claim, finding.evidence
    data = f" ({outcome.found.data})" if outcome.found.data else ""
    first = f"`{claim.id}`{data}: {claim.words}"
    cells = [first, claim.where, finding.variant, f"**{finding.verdict}**"]
    if evidence is None:
        return _line([*cells, finding.reason, ""])
    weakest = evidence.decisive
    return _line([*cells, f"{weakest.what}: {weakest.mean:.4g}", interval_text(weakest)])


def interval_text(estimate: Estimate) -> str:
    """Return the interval in words; nothing for an exact number."""
    if estimate.error == 0 or estimate.n < 2:
        return ""
    low, high = estimate.interval()
    return f"{low:.4g} to {high:.4g}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
