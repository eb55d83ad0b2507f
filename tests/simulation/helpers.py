"""Policies and environments that misbehave, or are easy to follow by eye."""

import time
from dataclasses import dataclass, field

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.orders import LatentOrders
from lobandits.policies import Details, Policy, State
from lobandits.simulation import FixedProblems, Problems, Result


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Policy):
    """Plays one arm; from round ``since`` on, user ``guilty`` gets ``wrong`` instead.

    Which user is which is known only by its first noise, so ``guilty`` is found by position.
    """

    name = "constant"
    n_arms: int
    arm: int = 0
    since: int = 10**9
    wrong: int = 99
    guilty: int = 0
    arms: tuple[str, ...] = field(default=(), kw_only=True)

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        arms = np.full(state.n_users, self.arm)
        if state.plays[0] + 1 >= self.since and state.n_users > self.guilty:
            arms[self.guilty] = self.wrong
        return arms

    def propensities(self, state: State) -> FloatArray:
        return np.tile(np.eye(self.n_arms)[self.arm], (state.n_users, 1))

    def details(self, state: State) -> Details:
        return Details()


class Raising(Constant):
    """Raises for every user whose third reward has come and whose arm 0 earned more than 0."""

    name = "raising"

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        if ((state.plays >= 3) & (state.sums[:, 0] > 0)).any():
            raise ZeroDivisionError("no luck")
        return super().decide(state, noise)


class Slow(Constant):
    """Takes its time."""

    name = "slow"

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        time.sleep(0.01)
        return super().decide(state, noise)


class Floating(Constant):
    """Returns arms that are no whole numbers."""

    name = "floating"

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        return np.zeros(state.n_users)  # type: ignore[return-value]


def shared_orders(n_arms: int = 4) -> LatentOrders:
    forth = list(range(n_arms))
    return LatentOrders.from_rankings([forth, forth[::-1]])


def fixed(n_arms: int = 4, **options: object) -> FixedProblems:
    """Return one problem, means n_arms - 1, ..., 0, that all users share."""
    means = np.arange(n_arms - 1, -1, -1.0)
    believed = np.stack([means, means[::-1]])
    return FixedProblems(
        means,
        shared_orders(n_arms),
        sigma=1.0,
        states=[0],
        state_means=believed,
        **options,  # type: ignore[arg-type]
    )


def second_arm(problems: Problems) -> Policy:
    """Make a policy from problems: always arm 1."""
    return Constant(problems.n_arms, arm=1)


def same(a: Result, b: Result) -> bool:
    """Say whether two results have the same bits, apart from times."""
    if a.policies != b.policies or (a.users is None) != (b.users is None):
        return False
    for label in a.policies:
        if a.totals[label].tobytes() != b.totals[label].tobytes():
            return False
        if a.moments[label].table.tobytes() != b.moments[label].table.tobytes():
            return False
        if a.users is not None and a.regret[label].tobytes() != b.regret[label].tobytes():
            return False
    return True
