"""A claim: a sentence of the paper, and its test, which goes from records to evidence."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVarTuple

from lobandits.errors import LobError
from lobandits.experiments.claims.estimates import Estimate
from lobandits.experiments.claims.verdicts import UNTESTABLE, Evidence, all_of
from lobandits.experiments.records import Records

Values = TypeVarTuple("Values")
Test = Callable[[Records], Mapping[str, Evidence]]
NO_VARIANTS: dict[str, tuple[()]] = {"": ()}
"""For `for_each`: nothing may change the verdict, so there is only one."""


class NotTestable(LobError):  # noqa: N818
    """A claim cannot be tested with the data at hand; the message says why."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that can be tested, and in our words what it says.

    ``statistic`` is what is measured, and must be positive. ``test`` goes from the records to the
    evidence, by variant: where sigma, or an option of ours, may change the verdict, all are shown.
    ``timed`` claims are about times, which no seed can repeat.
    """

    id: str
    where: str
    words: str
    statistic: str
    test: Test
    timed: bool = False


def for_each(
    variants: Mapping[str, tuple[*Values]],
    test: Callable[[Records, *Values], Iterable[Estimate]],
    needed: Callable[[Iterable[Estimate]], Evidence] = all_of,
) -> Test:
    """Return a claim's test: what ``test`` finds in the records with the values of each variant."""
    return lambda records: {
        name: needed(test(records, *values)) for name, values in variants.items()
    }


@dataclass(frozen=True)
class Finding:
    """What became of one variant of a claim."""

    claim: Claim
    variant: str
    verdict: str
    evidence: Evidence | None = None
    reason: str = ""


def judge(claim: Claim, records: Records | None, reason: str = "") -> list[Finding]:
    """Return the findings of a claim, one per variant; without records, why there are none."""
    if records is None:
        return [Finding(claim, "", UNTESTABLE, reason=reason)]
    try:
        variants = claim.test(records)
    except NotTestable as error:
        return [Finding(claim, "", UNTESTABLE, reason=str(error))]
    return [Finding(claim, name, e.verdict(), e) for name, e in variants.items()]
