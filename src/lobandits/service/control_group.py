"""The control group: a share of users for whom another policy decides, so that both compare.

A user is in it for as long as the comparison lasts: a keyed hash of the name says so, the same in
every process and after every restart, since the key is kept with the store.
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, whole
from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.service.served_policy import decoded, encoded, odds_of, state_of
from lobandits.service.store import Store
from lobandits.service.store.comparisons import StoredComparison, put_comparison

MODEL, CONTROL, CALLER = "model", "control", "caller"
"""Who decided: the model, the control group's policy, or in apprentice mode the caller itself."""
REWARDS = 10


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
        found = odds_of(self.policy, state_of(self.policy, plays, totals), sets)
        odds[:, known] = found[:, mine]
        odds[lost] = allowed[lost]
        return odds
