r"""Policies judged by the logs alone: no model of users, only rewards that they gave.

*Queues* (Mandel et al. 2016): each play of an arm takes the user's next logged reward of that arm.
Valid for logs that did not adapt to rewards; needs no propensities. *Rejection* (Li et al. 2011):
the user's logged decisions are gone through in order, and that of arm a with propensity p is
accepted with the chance

.. math:: \pi(a) \, p_{\min} / p, \qquad p_{\min} = \min p \text{ of all decisions},

so that accepted arms are distributed as the policy's. Valid for adaptive logs with propensities.

Users run out of rewards, those who liked what a policy plays last. To average over the rest would
flatter it, so missing rounds count as the worst and as the best reward there is: bounds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.evaluation.histories import Histories
from lobandits.evaluation.intervals import Interval
from lobandits.evaluation.truth import problems_of
from lobandits.learning import Model
from lobandits.policies import Policy, make_policy

WAYS = ("queues", "rejection")
LEVEL = 0.95
FEW_USERS, FEW_REACH = 30, 0.5  # who must reach a round for the logs alone to tell of it


class Replay(NamedTuple):
    """Rewards of one policy by user and round, (n, horizon); nan once a user has run out."""

    rewards: FloatArray

    def bounds(self, horizon: int, lowest: float, highest: float) -> tuple[FloatArray, FloatArray]:
        """Return the least and the most that each user's first rounds may have earned, (n,)."""
        some = self.rewards[:, :horizon]
        least, most = (np.where(np.isnan(some), end, some) for end in (lowest, highest))
        return least.sum(axis=1), most.sum(axis=1)


def replay(
    policy: Policy,
    histories: Histories,
    horizon: int,
    way: str,
    seed: int,
    features: FloatArray | None = None,
) -> FloatArray:
    """Return what a policy earns on logged rewards, (n, horizon); nan once a user has run out.

    ``way`` is one of `WAYS`; ``features`` are what is known of the users before.
    """
    play: Callable[..., Iterator[None]] = _queues if way == "queues" else _rejection
    rewards = np.full((histories.n_users, horizon), np.nan)
    rng = np.random.default_rng([seed, WAYS.index(way)])
    known = {} if features is None else {"features": features}
    for _ in play(policy, policy.start(histories.n_users, **known), histories, rewards, rng):
        pass
    return rewards


def _queues(
    policy: Policy,
    state: Any,
    histories: Histories,
    rewards: FloatArray,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Play round after round; who asks for an arm whose rewards are used up is done.

    ``queue[u, a]`` is where arm a's rewards of user u begin, sorted by user and arm, and
    ``left[u, a]`` how many there are. Cost O(n) a round beside the policy's.
    """
    n, k = histories.n_users, policy.n_arms
    users = np.repeat(np.arange(n), np.diff(histories.first))
    cell = users * k + histories.arms
    sorted_rewards = histories.rewards[np.argsort(cell, kind="stable")]
    left = np.bincount(cell, minlength=n * k).reshape(n, k)
    queue = np.concatenate([[0], np.cumsum(left)[:-1]]).reshape(n, k)
    there = np.arange(n)  # who still plays, in the order of the state
    for t in range(rewards.shape[1]):
        arms = policy.choose(state, rng)
        fine = np.flatnonzero(left[there, arms] > 0)
        if not fine.size:
            return
        if len(fine) < len(there):  # who is done decides no more
            state, there, arms = state.take(fine), there[fine], arms[fine]
        rewards[there, t] = sorted_rewards[queue[there, arms]]
        policy.record(state, arms, rewards[there, t])
        queue[there, arms] += 1
        left[there, arms] -= 1
        yield


def _rejection(
    policy: Policy,
    state: Any,
    histories: Histories,
    rewards: FloatArray,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Go through all users' decisions at once, the i-th of each in the i-th step."""
    assert histories.propensities is not None
    sizes, chances = np.diff(histories.first), histories.propensities
    factor = chances.min() / chances
    rounds = np.zeros(histories.n_users, np.int64)
    for step in range(int(sizes.max(initial=0))):
        there: BoolArray = (step < sizes) & (rounds < rewards.shape[1])
        if not there.any():
            return
        users = np.flatnonzero(there)
        rows = histories.first[users] + step
        arms = histories.arms[rows]
        wanted = policy.probabilities(state)[users, arms] * factor[rows]
        kept = rng.random(len(users)) < wanted
        users, arms, paid = users[kept], arms[kept], histories.rewards[rows][kept]
        rewards[users, rounds[users]] = paid
        rounds[users] += 1
        if users.size:
            policy.record(state, arms, paid, users=users)
        yield


@dataclass(frozen=True, eq=False)
class Replays:
    """What policies earned on logged rewards alone, or ``why`` they could not be replayed.

    ``sizes`` is how many rewards each user has, (n,); ``ends`` the least and the largest of all.
    """

    way: str
    by_policy: Mapping[str, Replay]
    sizes: IntArray
    ends: tuple[float, float]
    why: str = ""

    def reached(self, policy: str, rounds: int) -> tuple[int, int]:
        """Return how many users reach a round, and of how many who have rewards enough."""
        some = self.by_policy[policy].rewards[self.sizes >= rounds, rounds - 1]
        return int((~np.isnan(some)).sum()), len(some)

    def gain(self, policy: str, over: str, rounds: int, level: float = LEVEL) -> Interval | str:
        """Return bounds on the gain, with their errors; or why the logs alone do not tell it.

        It is that of users with a reward for each round, who are known before any policy plays.
        Rounds that such a user does not reach count as the worst and as the best reward.
        """
        from scipy.special import ndtri

        if self.why:
            return self.why
        reach, n = min(self.reached(name, rounds) for name in (policy, over))
        if reach < max(FEW_USERS, FEW_REACH * n):
            return f"only {reach:,} of {n:,} users with {rounds} rewards reach round {rounds}"
        enough = self.sizes >= rounds
        mine, theirs = (self.by_policy[p].bounds(rounds, *self.ends) for p in (policy, over))
        least, most = (mine[0] - theirs[1])[enough], (mine[1] - theirs[0])[enough]
        z = float(ndtri((1 + level) / 2)) / np.sqrt(n)
        low, high = least.mean() - z * least.std(ddof=1), most.mean() + z * most.std(ddof=1)
        return Interval(float((least.mean() + most.mean()) / 2), float(low), float(high))


class ReplayRun:
    """Plays each split's policies on the logged rewards of its judged users."""

    def __init__(
        self,
        histories: Histories | str,
        names: list[str],
        horizon: int,
        seed: int,
        propensities: bool,
    ) -> None:
        self.histories, self.names, self.horizon, self.seed = histories, names, horizon, seed
        self.way = "rejection" if propensities else "queues"
        self.rewards: dict[str, list[FloatArray]] = {name: [] for name in names}
        self.sizes: list[IntArray] = []

    def play(self, judged: IntArray, model: Model, features: FloatArray | None = None) -> None:
        """Play on the judged users of one split, of whom ``features`` are known."""
        if isinstance(self.histories, str):
            return
        some = self.histories.take(judged)
        problems: Any = problems_of(np.zeros((1, len(model.arms))), model)
        for name in self.names:
            policy = make_policy(name, problems, horizon=self.horizon)
            earned = replay(policy, some, self.horizon, self.way, self.seed, features)
            self.rewards[name].append(earned)
        self.sizes.append(np.diff(some.first))

    def found(self) -> Replays:
        """Return what was found by the logs alone, or why nothing was."""
        if isinstance(self.histories, str):
            return Replays(self.way, {}, np.zeros(0, np.int64), (0.0, 0.0), self.histories)
        by_name = {name: Replay(np.concatenate(parts)) for name, parts in self.rewards.items()}
        ends = float(self.histories.rewards.min()), float(self.histories.rewards.max())
        return Replays(self.way, by_name, np.concatenate(self.sizes), ends)
