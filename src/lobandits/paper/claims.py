"""Claims of the paper, and the rule by which measurements decide them.

A claim becomes paired differences that must be positive. The mean d of n differences has Student's
interval d -+ t(level, n - 1) standard errors. That each of K intervals of level 95% lies above 0 is
an intersection-union test, which needs no correction; that some interval lies below 0 needs the
level 1 - 5%/K (Bonferroni).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVarTuple

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import FloatArray
from lobandits.errors import LobError
from lobandits.paper.parts import Record, Records, mean_and_error
from lobandits.paper.parts.policies import policy_title
from lobandits.paper.parts.record import axis_title

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """The mean of paired differences that the claim says is positive.

    An error of 0 means an exact number, without an interval. ``n_seeds`` counts the seeds over
    which genres, clustering and users were drawn anew, where there are several.
    """

    what: str
    mean: float
    error: float
    n: int
    n_seeds: int = 1

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return Student's interval, with as many degrees of freedom as the fewest draws leave.

        It is endless for a single user.
        """
        from scipy.special import stdtrit

        if self.error == 0:
            return self.mean, self.mean
        if self.n < 2:
            return -np.inf, np.inf
        fewest = self.n if self.n_seeds == 1 else self.n_seeds
        wide = self.error * float(stdtrit(fewest - 1, (1 + level) / 2))
        return self.mean - wide, self.mean + wide


def estimate(what: str, differences: ArrayLike, of: Record | None = None) -> Estimate:
    """Return the estimate from one difference per user ``of`` a record.

    The record says which users share a seed, and which seeds share a user.
    """
    values = np.asarray(differences, dtype=np.float64)
    groups = {} if of is None else of.groups
    mean, error = mean_and_error(values, groups.values())
    n_seeds = len(np.unique(groups["seed"])) if "seed" in groups else 1
    return Estimate(what, float(mean), float(error), len(values), n_seeds)


def share(what: str, hits: ArrayLike, above: float) -> Estimate:
    """Return by how much a share of trials exceeds a value, from one 0 or 1 per trial.

    Its error counts two hits and two misses more ("plus four", Agresti and Coull), so that
    trials that all end alike still leave a doubt.
    """
    values = np.asarray(hits, dtype=np.float64)
    n = len(values)
    p = (values.sum() + 2) / (n + 4)
    error = float(np.sqrt(p * (1 - p) / (n + 4)))
    return Estimate(what, float(values.mean()) - above, error, n)


def exactly(what: str, value: float) -> Estimate:
    """Return the estimate of a number that is known without error."""
    return Estimate(what, value, 0.0, 1)


HOLDS, FAILS = "holds", "does not hold"
UNDECIDED, UNTESTABLE = "undecided at this size", "not testable here"
VERDICTS = (HOLDS, FAILS, UNDECIDED, UNTESTABLE)
RULE = (
    "A claim is turned into differences between policies that must be positive, measured on the "
    "same users. Intervals cover the draw of users; on ratings also that of genres, clustering and "
    "noise, over seeds, with as many degrees of freedom as there are seeds less one. It holds if "
    "the 95% interval of each lies above 0, does not hold if the interval "
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


def below(
    record: Record,
    policy: str,
    rivals: Sequence[str],
    start: float = 0.0,
    stop: float = 1.0,
    where: str = "",
    rivals_in: Record | None = None,
) -> list[Estimate]:
    """Return by how much a policy has less regret than each rival, paired by user.

    Regret counts between two shares of the horizon, by default all of it. Rivals may stand in
    another record of the same users.
    """
    return [
        estimate(
            f"{policy_title(policy)} below {policy_title(rival)}{where}",
            (rivals_in or record).between(rival, start, stop) - record.between(policy, start, stop),
            record,
        )
        for rival in rivals
    ]


def below_along(
    records: Records,
    axis: str,
    policy: str,
    rivals: Sequence[str],
    among: Callable[[float], bool] = lambda value: True,
    **at: Any,
) -> list[Estimate]:
    """Return the same at each value of an axis, or at those that are meant."""
    return [
        difference
        for value, record in records.along(axis, **at).items()
        if among(value)
        for difference in below(record, policy, rivals, where=f", {axis_title(axis)} = {value:g}")
    ]


def trend(totals: Mapping[float, FloatArray]) -> FloatArray:
    """Return each user's slope of a total over the values of a sweep, by least squares."""
    x = np.array(list(totals), dtype=float) - np.mean(list(totals))
    slopes: FloatArray = x @ np.stack(list(totals.values())) / (x @ x)
    return slopes
