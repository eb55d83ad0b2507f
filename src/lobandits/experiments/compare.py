"""Comparisons that many claims share."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import Estimate, Evidence, Test, estimate
from lobandits.experiments.design import FIRST, NARROW, NARROW_TENTH, SIGMAS, TENTH, Found
from lobandits.experiments.draw import policy_title
from lobandits.experiments.record import Record

LOB = {"lobUCB": "lobucb", "lobUCB with UCB's radius": NARROW, "lobTS": "lobts"}
"""Claims about both have a variant for each: one may hold and the other not."""
LOB_TENTH = {
    "lobUCB": TENTH[0],
    "lobUCB with UCB's radius": NARROW_TENTH,
    "lobTS": TENTH[1],
    "lobTS, projecting every round": "lobts",
}
"""The paper projects every tenth round on MovieLens; for lobTS both paces are shown."""
PLAIN = ("ucb", "ts")
BELIEVING = ("mucb", "mts")
MTS = {"": "mts", "mTS best arms first": FIRST}


def below(
    record: Record,
    policies: Iterable[str],
    rivals: Sequence[str],
    start: float = 0.0,
    stop: float = 1.0,
    where: str = "",
) -> list[Estimate]:
    """Return by how much each policy has less regret than each rival, paired by user.

    Regret counts between two shares of the horizon, by default all of it.
    """
    return [
        estimate(
            f"{policy_title(policy)} below {policy_title(rival)}{where}",
            record.between(rival, start, stop) - record.between(policy, start, stop),
        )
        for policy in policies
        for rival in rivals
    ]


def by_sigma(test: Callable[[Found, float], Evidence]) -> Test:
    """Return the test that is done at both values of sigma."""
    return lambda found: {f"sigma = {sigma:g}": test(found, sigma) for sigma in SIGMAS}


def by_policy_and_sigma(test: Callable[[Found, float, str], Evidence]) -> Test:
    """Return the test that is done for lobUCB and for lobTS, at both values of sigma."""
    return lambda found: {
        f"{name}, sigma = {sigma:g}": test(found, sigma, policy)
        for sigma in SIGMAS
        for name, policy in LOB.items()
    }


def by_policy(test: Callable[[Found, str], Evidence]) -> Test:
    """Return the test that is done for lobUCB and for lobTS on MovieLens, and their variants."""
    return lambda found: {name: test(found, policy) for name, policy in LOB_TENTH.items()}


def by_pace(test: Callable[[Found, str, str], Evidence]) -> Test:
    """Return the test that is done with lobUCB and lobTS projecting at either pace."""
    return lambda found: {
        "projecting every 10th round": test(found, *TENTH),
        "projecting every round": test(found, "lobucb", "lobts"),
    }


def trend(records: Mapping[float, Record], policy: str) -> FloatArray:
    """Return each user's slope of regret over the values of a sweep, by least squares."""
    x = np.array(list(records), dtype=float) - np.mean(list(records))
    totals = np.stack([record.total(policy) for record in records.values()])
    slopes: FloatArray = x @ totals / (x @ x)
    return slopes
