"""The control group: a share of users for whom another policy decides, so that both compare.

A user is in it for as long as the comparison lasts: a keyed hash of the name says so, the same in
every process and after every restart, since the key is kept with the store. What a transaction
writes is added up by group, and by user for the comparison.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, read_only, whole
from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.service.served_policy import decoded, encoded, odds_of, state_of
from lobandits.service.store import Store
from lobandits.service.store.comparisons import (
    EVER,
    StoredComparison,
    put_comparison,
    read_comparison,
)
from lobandits.service.store.tables import MINUTE
from lobandits.service.store.transaction import (
    NewDecision,
    NewTrial,
    StoredDecision,
    Transaction,
)

MODEL, CONTROL, CALLER = "model", "control", "caller"
"""Who decided: the model, the control group's policy, or in apprentice mode the caller itself."""
GROUP = attrgetter("model", "control_group", "comparison_id")  # of a decision
REWARDS = 10

Rewarded = Sequence[tuple[StoredDecision, float]]  # decisions with the rewards that they get
Sums = dict[Any, tuple[int, int, float]]  # decisions, rewards and the total of these


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


class Rules(NamedTuple):
    """How a process decides beyond its models: a floor of exploration, and a control group.

    ``explore`` of all choices are uniform among the allowed arms. ``control`` is the control
    group of the problem ``problem``.
    """

    explore: float = 0.0
    control: ControlGroup | None = None
    problem: str = ""

    def of(self, problem: str) -> "Rules":
        """Return the rules for a problem."""
        return self if problem == self.problem else self._replace(control=None)

    def in_control(self, user: str) -> bool:
        """Whether the control group decides for a user."""
        return self.control is not None and self.control.holds(user)


PLAIN = Rules()


class Comparisons:
    """The comparisons of a store, each read once."""

    def __init__(self, store: Store, control: ControlGroup | None) -> None:
        self._store = store
        self._found: dict[int, StoredComparison] = {}
        if control is not None:
            self._found[control.stored.id] = control.stored

    def needed(self, number: int) -> int:
        """Return the rewards after which a user counts in a comparison."""
        if number not in self._found:
            self._found[number] = read_comparison(self._store, number)
        return self._found[number].rewards


def add_groups(
    transaction: Transaction, now: int, writer: int, made: Sequence[NewDecision], rewarded: Rewarded
) -> None:
    """Add decisions and rewards to the sums of their group, of this minute and of all time."""
    rows = _summed([*map(GROUP, made)], [(GROUP(d), reward) for d, reward in rewarded])
    transaction.add_groups(
        (minute, model, group or MODEL, comparison or 0, writer, *sums)
        for (model, group, comparison), sums in rows.items()
        for minute in (EVER, now // MINUTE)
    )


def add_advice(
    transaction: Transaction, writer: int, made: Sequence[NewDecision], rewarded: Rewarded
) -> None:
    """Add decisions of the caller to the sums of what it showed and what the model advised."""
    shown = [(d.arm_id, d.advised) for d in made if d.advised is not None]
    earned = [((d.arm_id, d.advised), reward) for d, reward in rewarded if d.advised is not None]
    if shown or earned:
        sums = _summed(shown, earned)
        transaction.add_advice((*pair, writer, *each) for pair, each in sums.items())


def add_trials(
    transaction: Transaction, now: int, rewarded: Rewarded, comparisons: Comparisons
) -> None:
    """Add rewards to the users of their comparison."""
    grouped = [
        ((d.comparison_id, d.user_id, int(d.control_group == CONTROL)), reward)
        for d, reward in rewarded
        if d.comparison_id is not None
    ]
    found: dict[int, list[NewTrial]] = {}
    for (number, user, control), (_, n, total) in _summed([], grouped).items():
        enough = n >= comparisons.needed(number)
        mean, when = (total / n, now) if enough else (None, None)
        trial = NewTrial(number, user, control, n, total, now, mean, when)
        found.setdefault(number, []).append(trial)
    for number, trials in found.items():
        transaction.add_trials(comparisons.needed(number), trials)


def _summed(decided: list[Any], rewarded: list[tuple[Any, float]]) -> Sums:
    counted = Counter(decided) if decided else {}
    sums: Sums = {key: (decisions, 0, 0.0) for key, decisions in counted.items()}
    for key, reward in rewarded:
        decisions, n, total = sums.get(key, (0, 0, 0.0))
        sums[key] = decisions, n + 1, total + reward
    return sums
