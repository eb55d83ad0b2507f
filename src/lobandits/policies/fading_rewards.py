"""Rewards for states that forget: of any users, at any times, in any order.

They are added to the ledger, and users are judged; then what is read is brought along, which is the
same as reading the ledger anew.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.policies.faded_reading import HALF_LIFE, NOTHING, READ_AT, tally
from lobandits.policies.forgetting import Forgetting


def add_and_forget(
    policy: Any,
    state: Forgetting,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray | None = None,
) -> None:
    """Add rewards at their times, by default one play after the other, in any order.

    Then what is read is brought along. Of users who have not changed that is done at once: it is
    what it would be without forgetting.
    """
    when = np.empty(len(users)) if times is None else times
    was = np.empty(len(users), np.bool_)
    if not tally(*state.open, users, arms, rewards, when, times is None, was):
        state.calm = False
        _bring_along(policy, state, users, arms, rewards, when, was)


def _bring_along(
    policy: Any,
    state: Forgetting,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    when: FloatArray,
    was: BoolArray,
) -> None:
    """Bring what is read along, of users who have changed, or had before."""
    same = was == state.changed[users]
    stayed = np.flatnonzero(same & was)
    if not policy.absorbs_more:
        state.add_faded(users, arms, rewards, when, stayed)
    else:
        for some in _each_once(users, stayed):
            _absorb_faded(policy, state, users[some], arms[some], rewards[some], when[some])
    if len(stayed) < len(users):
        state.reread(np.unique(users[~same]))


def _absorb_faded(
    policy: Any,
    state: Forgetting,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray,
) -> None:
    """Let a policy add rewards of different users, who have changed, to what is read.

    For a late reward the reading is set back to its time, and then to now again: so policies,
    which add with weight 1, need not know of it.
    """
    first = state.plays[users] == 1
    now = np.where(first, times, state.facts[users, READ_AT])
    state.facts[users, READ_AT] = now
    heard = now - times < NOTHING * state.facts[users, HALF_LIFE]
    some = users[heard]
    state.fade(some, times[heard])
    policy.absorb(state, some, arms[heard], rewards[heard])
    if (now > times).any():
        state.fade(some, np.maximum(now, times)[heard])


def _each_once(users: IntArray, left: IntArray) -> Iterator[IntArray]:
    """Yield the places ``left`` of ``users``, in order, such that no user comes twice."""
    while len(left):
        first = np.sort(np.unique(users[left], return_index=True)[1])
        yield left[first]
        left = np.delete(left, first)
