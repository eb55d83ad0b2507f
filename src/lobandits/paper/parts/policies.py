"""The policies that experiments run, by label: what each stands for, and how figures call it."""

from functools import partial
from typing import Any

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.paper.movielens.environment import MovieLens
from lobandits.policies import MUCB, TS, Policy, make_policy
from lobandits.policies.mucb import MUCBState
from lobandits.simulation import Synthetic
from lobandits.simulation.problems import Problems

TS_BY_ARM = "ts(prior='by arm')"
"""TS with a prior for each arm: mean and spread over the users who shaped the states."""
MUCB_TIES = "mucb(ties='anew')"
"""mUCB that breaks ties between states anew in every round."""
UNSTRUCTURED = ("ucb", "ts")
"""They know nothing of a user before the first reward."""
LATENT_BANDITS = ("mucb", "mts")
"""They believe to know every state's means."""
PAPER_POLICIES = (*UNSTRUCTURED, *LATENT_BANDITS, "lobucb", "lobts")
TOP_ARMS = "toparms"
"""UCB on the arms that are best in some state: the baseline of the paper's appendix."""
FROM_LOGS = ("popular", "mixts", "lobbayes")
"""They know a prior, learned from the logs of other users."""
C_VALUES = {"c = sigma/2": 0.5, "c = 2 sigma": 2.0}
"""Beside the paper's c = sigma."""
MTS_BEST_FIRST = "mts(best_arms_first=True)"
"""mTS that plays each state's best arm once before it samples states."""
MTS_VARIANTS = {"": "mts", ", mTS best arms first": MTS_BEST_FIRST}
"""mTS with and without it, by what they add to the name of a claim's variant."""
LOBUCB_NARROW = "lobucb(radius=2.0)"
"""lobUCB with the radius of UCB, c sqrt(2 log t / N); its listing has 4."""
LOBUCB_NARROW_TENTH = "lobucb(refresh_every=10, radius=2.0)"
PROJECTING_EVERY = {"lobucb": "lobucb(refresh_every={})", "lobts": "lobts(project_every={})"}
"""Policies that may project every so many rounds only."""
LOBUCB_TENTH, LOBTS_TENTH = (name.format(10) for name in PROJECTING_EVERY.values())
"""As in the paper, latent-order policies project every tenth round on MovieLens."""
TITLES = {
    TS_BY_ARM: "TS, priors by arm",
    MUCB_TIES: "mUCB, ties anew",
    "popular": "Popular",
    "mixts": "MixTS",
    "lobimed": "LobIMED",
    "lobids": "LobIDS",
    "lobbayes": "LobBayes",
    "ucb": "UCB",
    "ts": "TS",
    "mucb": "mUCB",
    "mts": "mTS",
    "lobucb": "lobUCB",
    "lobts": "lobTS",
    "toparms": "top-arms UCB",
    LOBUCB_TENTH: "lobUCB",
    LOBTS_TENTH: "lobTS",
    MTS_BEST_FIRST: "mTS, best first",
    LOBUCB_NARROW: "lobUCB, narrow",
    LOBUCB_NARROW_TENTH: "lobUCB, narrow",
}
"""How policies are called in figures; on MovieLens all project every tenth round."""


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


def policy_title(label: str) -> str:
    """Return how a policy is called in figures and tables."""
    return TITLES.get(label, label)


def projecting_every(n: int, policy: str) -> str:
    """Return the policy that projects every ``n`` rounds, if it projects at all.

    Examples
    --------
    >>> projecting_every(10, "lobts"), projecting_every(1, "lobts"), projecting_every(10, "ts")
    ('lobts(project_every=10)', 'lobts', 'ts')
    """
    return PROJECTING_EVERY[policy].format(n) if policy in PROJECTING_EVERY and n > 1 else policy
