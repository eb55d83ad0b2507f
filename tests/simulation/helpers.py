"""Policies and environments that misbehave, or are easy to follow by eye."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.orders import LatentOrders
from lobandits.policies import Policy, State
from lobandits.simulation import FixedProblems, Problems, Result

P = TypeVar("P", bound=type[Policy[Any]])


def called(name: str) -> Callable[[P], P]:
    """Name a policy after it was defined, so that `POLICIES` does not know it."""

    def name_it(cls: P) -> P:
        cls.name = name
        return cls

    return name_it


@called("constant")
@dataclass(frozen=True)
class Constant(Policy[State]):
    """Plays one arm; from round ``since`` on, user ``guilty`` gets ``wrong`` instead.

    Which user is which is known only by its first noise, so ``guilty`` is found by position.
    """

    n_arms: int
    arm: int = 0
    since: int = 10**9
    wrong: int = 99
    guilty: int = 0
    arms: tuple[str, ...] = field(default=(), kw_only=True)

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        return np.tile(np.eye(self.n_arms)[self.arm], (state.n_users, 1))

    def decide(self, state: State, noise: FloatArray, allowed: BoolArray) -> IntArray:
        arms = np.full(state.n_users, self.arm)
        if state.plays[0] + 1 >= self.since and state.n_users > self.guilty:
            arms[self.guilty] = self.wrong
        return arms


@called("raising")
class Raising(Constant):
    """Raises for every user whose third reward has come and whose arm 0 earned more than 0."""

    def decide(self, state: State, noise: FloatArray, allowed: BoolArray) -> IntArray:
        if ((state.plays >= 3) & (state.sums[:, 0] > 0)).any():
            raise ZeroDivisionError("no luck")
        return super().decide(state, noise, allowed)


@called("slow")
class Slow(Constant):
    """Takes its time."""

    def decide(self, state: State, noise: FloatArray, allowed: BoolArray) -> IntArray:
        time.sleep(0.01)
        return super().decide(state, noise, allowed)


@called("floating")
class Floating(Constant):
    """Returns arms that are no whole numbers."""

    def decide(self, state: State, noise: FloatArray, allowed: BoolArray) -> IntArray:
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


def second_arm(problems: Problems) -> Policy[Any]:
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
