r"""The truth about judged users: mean rewards drawn from their posteriors, never a raw mean.

Of a user u with counts n and sums s of rewards we draw

.. math:: \mu_u = g(\eta_u), \qquad \eta_u \sim p(\eta \mid n_u, s_u)

under a prior that was learned on judged users alone, resampled for each draw, with the likelihood
of the policies' own. Two families of priors stand for what few rewards leave open. *One state* is
the least structure: users differ around one mean, and are of no types. *States* has as many states
as the policies were taught. Policies that know states do better under the second. Which family
foretells judged users better is told by their rewards, under what teachers taught of each
(`Players.evidence`).
"""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.learning import Model, RewardTable
from lobandits.learning.fit_prior import fit_prior
from lobandits.simulation import Problems

FAMILIES = ("one state", "states")
BOOTSTRAPS = 6


class Players(NamedTuple):
    """Who plays under the truths that were drawn, family after family, bootstrap after bootstrap.

    ``evidence`` is by how much more states foretell each judged user than one state does, both
    taught by teachers; (n_judged,).
    """

    means: FloatArray
    who: IntArray
    evidence: FloatArray


def draw_players(
    judged: RewardTable,
    teachers: RewardTable,
    model: Model,
    players: int,
    seed: int,
    workers: int | None = None,
) -> Players:
    """Return mean rewards of players under each family and bootstrap, and who they are.

    In each bootstrap both families are learned anew from the same resampled judged users.
    """
    order = np.random.default_rng([seed, 1]).permutation(judged.n_users)
    who = [np.resize(np.roll(order, -b * players), players) for b in range(BOOTSTRAPS)]
    numbers = (1, min(model.prior.n_states, judged.n_users))
    means: list[list[FloatArray]] = [[], []]
    for b, some in enumerate(who):
        rng = np.random.default_rng([seed, 2, b])
        again = judged.take(rng.integers(judged.n_users, size=judged.n_users))
        for family, m in zip(means, numbers, strict=True):
            prior = fit_prior(again, model.likelihood, m, seed=seed, workers=workers).prior
            family.append(prior.draw_posterior(judged.counts[some], judged.sums[some], rng))
    evidence = evidence_of_states(judged, teachers, model, workers)
    return Players(np.concatenate(means[0] + means[1]), np.tile(np.concatenate(who), 2), evidence)


def evidence_of_states(
    judged: RewardTable, teachers: RewardTable, model: Model, workers: int | None = None
) -> FloatArray:
    """Return by how much more the model foretells judged users than one state does, (n,)."""
    if model.prior.n_states == 1:
        return np.zeros(judged.n_users)
    one = fit_prior(teachers, model.likelihood, 1, workers=workers).prior
    rewards = judged.counts.astype(np.float64), judged.sums
    return model.prior.log_evidence(*rewards) - one.log_evidence(*rewards)


class JudgedUsers:
    """An environment of the users drawn, who know what the teachers' model says."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Return the users from ``first`` on; nothing about them is random any more."""
        return self.problems.take(np.arange(first, first + n))

    def __repr__(self) -> str:
        return f"JudgedUsers({self.problems!r})"


def problems_of(
    means: FloatArray,
    model: Model,
    residuals: FloatArray | None = None,
    features: FloatArray | None = None,
) -> Problems:
    """Return users of these mean rewards, who know what a model says.

    Their rewards are of its likelihood; Gaussian ones are off their means as residuals are.
    ``features`` are what the model's encode of them.
    """
    return Problems(
        means=means,
        sigma=model.sigma,
        states=np.full(len(means), -1),
        orders=None,
        state_means=model.prior.state_means,
        rewards=model.likelihood.name,
        past=model.prior,
        residuals=residuals,
        features=features,
    )
