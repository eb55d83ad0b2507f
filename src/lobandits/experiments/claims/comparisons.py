"""What many claims compare: one policy's regret with others', and how it changes along an axis."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims.estimates import Estimate, estimate
from lobandits.experiments.parts import Record
from lobandits.experiments.policy_names import policy_title
from lobandits.experiments.records import Records, axis_title


def below(
    record: Record,
    policy: str,
    rivals: Sequence[str],
    start: float = 0.0,
    stop: float = 1.0,
    where: str = "",
) -> list[Estimate]:
    """Return by how much a policy has less regret than each rival, paired by user.

    Regret counts between two shares of the horizon, by default all of it.
    """
    return [
        estimate(
            f"{policy_title(policy)} below {policy_title(rival)}{where}",
            record.between(rival, start, stop) - record.between(policy, start, stop),
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
