"""How a policy decides for users of whom counts and sums are known."""

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.policies import Policy, State
from lobandits.policies.choices import draw_arms


def choose_arms(
    policy: Policy, state: State, allowed: BoolArray, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return an arm for each user, as ``policy.choose`` does, and its probability.

    An arm is drawn by the very odds that its probability comes from: so that is exact, and never 0.
    """
    odds = policy.odds(state, allowed)
    totals = odds.sum(axis=1)
    if not (totals > 0).all():
        raise LobInputError(f"{policy!r} must have an arm with odds above 0 for every user")
    arms = draw_arms(odds, rng.random(state.n_users))
    return arms, odds[np.arange(state.n_users), arms] / totals


def state_of(policy: Policy, counts: IntArray, sums: FloatArray) -> State:
    """Return the state of users with these rewards, (n_users, n_arms) each."""
    state: State = policy.one_time_state(len(counts))
    state.counts[...] = counts
    state.sums[...] = sums
    return state
