"""What a label of a simulation stands for: policies, variants of them, and c times sigma."""

from functools import partial
from typing import Any

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits.policies import MUCB, TS, Policy, make_policy
from lobandits.policies.mucb import MUCBState
from lobandits.simulation import Synthetic
from lobandits.simulation.movielens import MovieLens
from lobandits.simulation.problems import Problems

TS_BY_ARM = "ts(prior='by arm')"
"""TS with a prior for each arm: mean and spread over the users who shaped the states."""
MUCB_TIES = "mucb(ties='anew')"
"""mUCB that breaks ties between states anew in every round."""


class MUCBTiesAnew(MUCB):
    """mUCB with ties between the states of the highest mean broken at random, in every round."""

    def decide(self, state: MUCBState, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Believe in a random one of the consistent states with the highest mean; play its arm."""
        bound = self.sigma * np.sqrt(self.constant * state.visits * np.log(self.horizon))
        excess = np.maximum(state.gaps - bound, 0.0)
        least = excess == excess.min(axis=1, keepdims=True)
        means = np.broadcast_to(self.state_means, (len(excess), *self.state_means.shape[-2:]))
        tops = np.where(least, means.max(axis=2), -np.inf)
        ties = tops == tops.max(axis=1, keepdims=True)
        nth = np.floor(noise * ties.sum(axis=1))
        belief = (ties.cumsum(axis=1) > nth[:, None]).argmax(axis=1)
        users = np.arange(len(belief))
        arms: IntArray = means[users, belief].argmax(axis=1)
        state.beliefs[users, arms] = belief
        return arms


def spec(label: str, env: Synthetic | MovieLens, horizon: int, c: float) -> Any:
    """Return what `simulate` plays under a label, with c times the sigma of the environment."""
    if label == TS_BY_ARM:
        assert isinstance(env, MovieLens)
        return _ts_by_arm(env, c)
    if label == MUCB_TIES:
        return partial(_mucb_ties, horizon, c)
    return label if c == 1 else partial(_with_c, label, horizon, c)


def _ts_by_arm(env: MovieLens, c: float) -> TS:
    """Return TS with each arm's mean and spread over the users who shaped the states."""
    means = env.means[~env.clusters.held_out]
    prior = {"prior_mean": means.mean(axis=0), "prior_std": means.std(axis=0, ddof=1)}
    return TS(env.n_arms, c * env.sigma, **prior, arms=env.orders.arms)


def _mucb_ties(horizon: int, c: float, problems: Problems) -> Policy:
    assert problems.state_means is not None
    return MUCBTiesAnew(problems.state_means, c * problems.sigma, horizon=horizon)


def _with_c(label: str, horizon: int, c: float, problems: Problems) -> Policy:
    return make_policy(label, problems, horizon=horizon, sigma=c * problems.sigma)
