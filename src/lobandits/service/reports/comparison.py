"""Does it work: the model's users against those of the control group, and advice not taken."""

import json
import math
from typing import Any

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.service.comparison import (
    ALPHA,
    FEWEST_USERS,
    LARGEST_PART,
    Band,
    UserSums,
    difference_band,
)
from lobandits.service.control_group import CONTROL, MODEL
from lobandits.service.store import Store
from lobandits.service.store.comparisons import (
    StoredComparison,
    advice_pairs,
    counted_span,
    counted_users,
    group_totals,
    newest_comparison,
    rewarded_users,
)
from lobandits.service.store.models import StoredNames
from lobandits.service.store.tables import as_date

POINTS = 60  # of the line over time, at most
GROUPS = (MODEL, CONTROL)
ASSUMPTION = (
    "Users are the unit: each counts once, by the mean of its first {rewards} rewards, when it "
    "has them. The band holds for all times together, so you may look and stop whenever you like: "
    "the chance that it ever misses the true difference is about {alpha:.0%}. It assumes that the "
    "group changes neither whether nor when a user has {rewards} rewards, and that users do not "
    "influence each other."
)

Row = dict[str, Any]


def comparison_report(store: Store, names: StoredNames, problem: str) -> Row:
    """Return the newest comparison of a problem, and what an apprentice would have changed."""
    stored = newest_comparison(store, problem)
    advice = _advice(store, names, problem)
    if stored is None:
        return {"control": None, "advice": advice}
    times, band, users = band_over_time(store, stored)
    return {
        "control": {
            "policy": json.loads(stored.policy)["policy"],
            "share": stored.share,
            "rewards": stored.rewards,
            "since": as_date(stored.time).isoformat(),
        },
        "groups": _groups(store, problem, stored, users),
        "difference": _latest(band, users),
        "over_time": {
            "times": [as_date(time).isoformat() for time in times],
            **{name: _plain(values) for name, values in band._asdict().items()},
        },
        "assumption": ASSUMPTION.format(rewards=stored.rewards, alpha=ALPHA),
        "advice": advice,
    }


def band_over_time(store: Store, stored: StoredComparison) -> tuple[list[int], Band, UserSums]:
    """Return up to 60 times, the band at each, and the sums of the users counted by then."""
    first, last, centre = counted_span(store, stored.id)
    if first is None or last is None:
        first, last = stored.time, stored.time
    step = (last - first) // POINTS + 1
    size = (last - first) // step + 1
    counts, totals, squares = np.zeros((3, 2, size))
    least, most = np.full((2, size), np.inf), np.full((2, size), -np.inf)
    for i, group, *found in counted_users(store, stored.id, first, step, centre):
        cell = group, i
        counts[cell], totals[cell], squares[cell], least[cell], most[cell] = found
    sums = UserSums(
        counts.cumsum(axis=1),
        totals.cumsum(axis=1),
        squares.cumsum(axis=1),
        np.minimum.accumulate(least, axis=1),
        np.maximum.accumulate(most, axis=1),
        centre,
    )
    times = [min(first + (i + 1) * step, last) for i in range(size)]
    return times, difference_band(sums), sums


def _groups(store: Store, problem: str, stored: StoredComparison, users: UserSums) -> Row:
    """Return decisions, rewards and users of both groups since the comparison began."""
    totals = {
        group: sums for number, group, *sums in group_totals(store, problem) if number == stored.id
    }
    rewarded = rewarded_users(store, stored.id)
    report = {}
    for i, group in enumerate(GROUPS):
        decisions, rewards, total = totals.get(group, (0, 0, 0.0))
        people = rewarded.get(i, 0)
        report[group] = {
            "users": people,
            "counted": int(users.users[i, -1]),
            "decisions": int(decisions),
            "rewards": int(rewards),
            "total": total,
            "per_decision": _ratio(total, int(rewards)),
            "per_user": _ratio(total, people),
            "mean": _finite(users.means[i, -1]),
        }
    return report


def _latest(band: Band, users: UserSums) -> Row:
    """Return the band now, and what it says."""
    difference, low, high = (_finite(values[-1]) for values in band)
    control = _finite(users.means[1, -1])
    return {
        "estimate": difference,
        "low": low,
        "high": high,
        "lift": _ratio(difference, control),
        "alpha": ALPHA,
        "verdict": _verdict(low, high, float(users.users[:, -1].min())),
    }


def _verdict(low: float | None, high: float | None, fewest: float) -> str:
    if low is None or high is None:
        if fewest < FEWEST_USERS:
            need = f"at least {FEWEST_USERS} in each group are needed"
            return f"open: too few users are counted, {need}"
        part = f"{LARGEST_PART:.0%} of its group's variance"
        return f"open: one user makes up more than {part}, so more users are needed"
    if low > 0:
        return "the model is better than the control"
    if high < 0:
        return "the control is better than the model"
    return "open: the band holds 0"


def _advice(store: Store, names: StoredNames, problem: str) -> Row | None:
    """Return how often the model would have chosen another arm than the caller."""
    pairs = advice_pairs(store, problem)
    if not pairs:
        return None
    same = [row for row in pairs if row[0] == row[1]]
    other = [row for row in pairs if row[0] != row[1]]
    every = sum(int(row[2]) for row in pairs)
    changes = sorted(other, key=lambda row: -int(row[2]))
    return {
        "decisions": every,
        "changed": sum(int(row[2]) for row in other) / every,
        "agreed": _rewards(same),
        "differed": _rewards(other),
        "changes": [
            {
                "shown": names.arm(shown),
                "advised": names.arm(advised),
                "decisions": int(decisions),
                "mean": _ratio(total, int(rewards)),
            }
            for shown, advised, decisions, rewards, total in changes[:100]
        ],
    }


def _rewards(rows: list[Any]) -> Row:
    decisions, rewards = (sum(int(row[i]) for row in rows) for i in (2, 3))
    total = sum(row[4] for row in rows)
    return {"decisions": decisions, "rewards": rewards, "mean": _ratio(total, rewards)}


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _plain(values: FloatArray) -> list[float | None]:
    return [_finite(value) for value in values.tolist()]
