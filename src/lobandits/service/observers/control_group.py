"""The control group: a share of users for whom another policy decides, and how both compare.

A user is in it for as long as the comparison lasts: a keyed hash of the name says so, the same in
every process and after every restart, since the key is kept with the store. A user counts once,
by the mean of its first rewards (`lobandits.service.comparison`).
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, text

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, read_only, whole
from lobandits.basics.finite import finite
from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.service.comparison import (
    ALPHA,
    FEWEST_USERS,
    LARGEST_PART,
    Band,
    UserSums,
    difference_band,
)
from lobandits.service.observers.activity import CONTROL, MODEL, group_totals
from lobandits.service.observers.apprentice import advice_report
from lobandits.service.observers.observer import Rewarded, summed
from lobandits.service.served_policy import decoded, encoded, odds_of, state_of
from lobandits.service.store import Store
from lobandits.service.store.models import OF, StoredNames
from lobandits.service.store.tables import as_date, microseconds
from lobandits.service.store.transaction import NewDecision, Transaction

REWARDS = 10  # after which a user counts, by default
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


class StoredComparison(NamedTuple):
    """A comparison of a problem: its control group's policy as JSON, and who is in it."""

    id: int
    policy: str
    share: float
    rewards: int  # after which a user counts
    key: bytes
    time: int


COLUMNS = ", ".join(StoredComparison._fields)


def read_comparison(store: Store, number: int) -> StoredComparison:
    """Return a comparison by its number; it never changes."""
    (row,) = store.rows(f"SELECT {COLUMNS} FROM comparisons WHERE id = :id", id=number)
    return StoredComparison._make(row)


def newest_comparison(store: Store, problem: str) -> StoredComparison | None:
    """Return the newest comparison of a problem."""
    query = f"SELECT {COLUMNS} FROM comparisons WHERE {OF} ORDER BY id DESC LIMIT 1"
    rows = store.rows(query, problem=problem)
    return StoredComparison._make(rows[0]) if rows else None


def put_comparison(store: Store, problem: str, policy: str, share: float, rewards: int) -> None:
    """Begin a comparison with a fresh key, unless the newest of the problem is the same."""
    newest = newest_comparison(store, problem)
    if newest and (newest.policy, newest.share, newest.rewards) == (policy, share, rewards):
        return
    statement = text(
        "INSERT INTO comparisons (id, problem_id, policy, share, rewards, key, time) "
        "SELECT (SELECT coalesce(max(id), 0) + 1 FROM comparisons), id, :policy, :share, :rewards, "
        ":key, :time FROM problems WHERE name = :problem"
    )
    values = {"policy": policy, "share": share, "rewards": rewards, "problem": problem}
    fresh = {"key": secrets.token_bytes(16), "time": microseconds()}

    def work(connection: Connection) -> None:
        connection.execute(statement, values | fresh)

    store.write(work)


@dataclass(frozen=True)
class Control:
    """A control group yet to be formed.

    Parameters
    ----------
    policy
        What decides for its users.
    share
        The share of users, between 0 and 1.
    rewards
        The rewards after which a user counts in the comparison, by their mean.

    Examples
    --------
    >>> from lobandits.policies import UCB
    >>> Control(UCB(2, sigma=1.0), share=0.1).rewards
    10
    """

    policy: Policy
    share: float
    rewards: int = REWARDS

    def __post_init__(self) -> None:
        encoded(self.policy)
        if self.policy.half_life is not None:
            raise LobInputError(
                f"{self.policy!r} has a half-life, but users of a control group are never "
                "forgotten; give it none"
            )
        if isinstance(self.share, bool) or not 0 < self.share < 1:
            raise LobInputError(
                f"the share of the control group must be between 0 and 1, got {self.share!r}"
            )
        whole("rewards", self.rewards)

    def put(self, store: Store, problem: str) -> None:
        """Begin the comparison, unless it is the newest of the problem already."""
        text, _ = encoded(self.policy)
        put_comparison(store, problem, text, float(self.share), self.rewards)


class ControlGroup:
    """The users of a comparison's control group, and how their policy decides."""

    def __init__(self, stored: StoredComparison) -> None:
        self.stored = stored
        self.policy = decoded(stored.policy)
        self._bound = int(stored.share * 2**64)

    def holds(self, user: str) -> bool:
        """Whether a user is in the group: the share of hashes below a bound."""
        digest = blake2b(user.encode(), digest_size=8, key=self.stored.key).digest()
        return int.from_bytes(digest) < self._bound

    def odds(
        self, arms: tuple[str, ...], counts: IntArray, sums: FloatArray, allowed: BoolArray
    ) -> FloatArray:
        """Return the odds of ``arms``, which are those of the model, for users of the group.

        Arms that the model alone knows have odds 0; where none other is allowed, all have the same.
        """
        places = {name: place for place, name in enumerate(self.policy.arms)}
        known = np.array([name in places for name in arms])
        mine = [places[name] for name in arms if name in places]
        shape = len(counts), self.policy.n_arms
        plays, totals, sets = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape, np.bool_)
        for there, here in ((plays, counts), (totals, sums), (sets, allowed)):
            there[:, mine] = here[:, known]
        lost = ~sets.any(axis=1)
        sets[lost] = True
        odds = np.zeros(counts.shape)
        found = odds_of(self.policy, state_of(self.policy, plays, totals), read_only(sets))
        odds[:, known] = found[:, mine]
        odds[lost] = allowed[lost]
        return odds


class NewTrial(NamedTuple):
    """Rewards of a user of a comparison; mean and time where they suffice by themselves."""

    comparison_id: int
    user_id: int
    control: int
    rewards: int
    total: float
    latest: int
    mean: float | None
    counted: int | None


class Trials:
    """Adds up the rewards of each user of a comparison; with enough of them, their mean is kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._needed: dict[int, int] = {}  # the rewards after which a user counts, by comparison

    def note(
        self,
        transaction: Transaction,
        now: int,
        made: Sequence[NewDecision],
        rewarded: Sequence[Rewarded],
    ) -> None:
        """Add rewards to the users of their comparison, also where it is over."""
        grouped = [
            ((d.comparison_id, d.user_id, int(d.control_group == CONTROL)), reward)
            for d, reward, _ in rewarded
            if d.comparison_id is not None
        ]
        found: dict[int, list[NewTrial]] = {}
        for (number, user, control), (_, n, total) in summed((), grouped).items():
            if number not in self._needed:
                self._needed[number] = read_comparison(self._store, number).rewards
            enough = n >= self._needed[number]
            mean, when = (total / n, now) if enough else (None, None)
            trial = NewTrial(number, user, control, n, total, now, mean, when)
            found.setdefault(number, []).append(trial)
        for number, trials in found.items():
            trials.sort(key=lambda trial: trial.user_id)
            kinds = "bigint bigint int bigint float8 bigint float8 bigint"
            transaction.change(_adding_trials(self._needed[number]), kinds, trials)


def _adding_trials(needed: int) -> str:
    """Return the statement that adds rewards to users, who count with so many."""
    enough = f"trials.counted IS NULL AND trials.rewards + excluded.rewards >= {needed:d}"
    return (
        f"INSERT INTO trials ({', '.join(NewTrial._fields)}) {{rows}} "
        "ON CONFLICT (comparison_id, user_id) DO UPDATE SET "
        "rewards = trials.rewards + excluded.rewards, total = trials.total + excluded.total, "
        f"latest = excluded.latest, mean = CASE WHEN {enough} THEN (trials.total + "
        "excluded.total) / (trials.rewards + excluded.rewards) ELSE trials.mean END, "
        f"counted = CASE WHEN {enough} THEN excluded.latest ELSE trials.counted END"
    )


class UserCounts(NamedTuple):
    """What is known of the users of a comparison before their sums are asked for."""

    first: int | None  # when a user was counted first
    last: int | None
    centre: float


def counted_span(store: Store, comparison: int) -> UserCounts:
    """Return when users were counted, and their mean."""
    query = (
        "SELECT min(counted), max(counted), coalesce(avg(mean), 0.0) FROM trials "
        "WHERE comparison_id = :comparison AND counted IS NOT NULL"
    )
    (row,) = store.rows(query, comparison=comparison)
    return UserCounts(row[0], row[1], float(row[2]))


def counted_users(
    store: Store, comparison: int, first: int, step: int, centre: float
) -> Sequence[Any]:
    """Return (step of time, control, users, sum, squares, least, most) of users counted in it."""
    return store.rows(
        "SELECT (counted - :first) / :step, control, count(*), sum(mean), "
        "sum((mean - :centre) * (mean - :centre)), min(mean), max(mean) FROM trials "
        "WHERE comparison_id = :comparison AND counted IS NOT NULL "
        "GROUP BY 1, 2",
        comparison=comparison,
        first=first,
        step=step,
        centre=centre,
    )


def rewarded_users(store: Store, comparison: int) -> dict[int, int]:
    """Return how many users with rewards the model (0) and the control group (1) have."""
    query = (
        "SELECT control, count(*) FROM trials WHERE comparison_id = :comparison GROUP BY control"
    )
    return dict(store.rows(query, comparison=comparison))


def comparison_report(store: Store, names: StoredNames, problem: str) -> Row:
    """Return the newest comparison of a problem, and what an apprentice would have changed."""
    stored = newest_comparison(store, problem)
    advice = advice_report(store, names, problem)
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
            **{name: finite(values) for name, values in band._asdict().items()},
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
            "mean": finite(users.means[i, -1]),
        }
    return report


def _latest(band: Band, users: UserSums) -> Row:
    """Return the band now, and what it says."""
    difference, low, high = (finite(values[-1]) for values in band)
    control = finite(users.means[1, -1])
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


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole
