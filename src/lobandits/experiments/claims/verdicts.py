"""The rule: which verdict estimates give.

That each of K intervals of level 95% lies above 0 is an intersection-union test, which needs no
correction; that some interval lies below 0 needs the level 1 - 5%/K (Bonferroni).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lobandits.experiments.claims.estimates import LEVEL, Estimate

HOLDS, FAILS = "holds", "does not hold"
UNDECIDED, UNTESTABLE = "undecided at this size", "not testable here"
VERDICTS = (HOLDS, FAILS, UNDECIDED, UNTESTABLE)
RULE = (
    "A claim is turned into differences between policies that must be positive, measured on the "
    "same users. It holds if the 95% interval of each lies above 0, does not hold if the interval "
    "of some difference (corrected for their number) lies below 0, and is undecided at this size "
    "otherwise. Where one positive difference is enough, the two rules change places. A claim has "
    "a verdict for each policy, sigma and option that may change it; all are counted."
)


@dataclass(frozen=True)
class Evidence:
    """The estimates that decide a claim: "all" of them must be positive, or "any" of them."""

    estimates: tuple[Estimate, ...]
    need: Literal["all", "any"] = "all"

    def verdict(self) -> str:
        """Return what the estimates say by the rule."""
        if not self.estimates:
            return UNTESTABLE
        corrected = 1 - (1 - LEVEL) / len(self.estimates)
        up, down = (LEVEL, corrected) if self.need == "all" else (corrected, LEVEL)
        positive = [e.interval(up)[0] > 0 for e in self.estimates]
        negative = [e.interval(down)[1] <= 0 for e in self.estimates]
        holds, fails = (all, any) if self.need == "all" else (any, all)
        return HOLDS if holds(positive) else FAILS if fails(negative) else UNDECIDED

    @property
    def decisive(self) -> Estimate:
        """The estimate on which the verdict hangs: the weakest, or where any will do the strongest.

        Strength is the mean in standard errors, and among exact numbers the mean.
        """

        def strength(e: Estimate) -> tuple[float, float]:
            exact = float(np.copysign(np.inf, e.mean))
            return (e.mean / e.error if e.error > 0 else exact), e.mean

        pick = min if self.need == "all" else max
        return pick(self.estimates, key=strength)


def all_of(estimates: Iterable[Estimate]) -> Evidence:
    """Return evidence of which every difference must be positive."""
    return Evidence(tuple(estimates))


def any_of(estimates: Iterable[Estimate]) -> Evidence:
    """Return evidence of which one positive difference is enough."""
    return Evidence(tuple(estimates), "any")
