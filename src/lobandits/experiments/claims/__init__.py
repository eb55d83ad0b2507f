"""Claims of the paper, and the rule by which measurements decide them."""

from lobandits.experiments.claims.claim import (
    NO_VARIANTS,
    Claim,
    Finding,
    NotTestable,
    for_each,
    judge,
)
from lobandits.experiments.claims.comparisons import below, below_along, trend
from lobandits.experiments.claims.estimates import Estimate, estimate, exactly, share
from lobandits.experiments.claims.verdicts import (
    FAILS,
    HOLDS,
    RULE,
    UNDECIDED,
    UNTESTABLE,
    VERDICTS,
    Evidence,
    all_of,
    any_of,
)

__all__ = [
    "FAILS",
    "HOLDS",
    "NO_VARIANTS",
    "RULE",
    "UNDECIDED",
    "UNTESTABLE",
    "VERDICTS",
    "Claim",
    "Estimate",
    "Evidence",
    "Finding",
    "NotTestable",
    "all_of",
    "any_of",
    "below",
    "below_along",
    "estimate",
    "exactly",
    "for_each",
    "judge",
    "share",
    "trend",
]
