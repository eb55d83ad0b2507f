r"""The truth about judged users: means drawn from their posteriors, never a raw mean.

Of a user u with counts n and sums s of rewards we draw

.. math:: \mu_u \sim p(\mu \mid n_u, s_u), \qquad \mu \sim N(m, S)

under a prior that was learned on judged users alone. Two families of priors stand for what few
rewards leave open. *One Gaussian* with any mean and covariance is the least structure that fits:
users are of no types. *States* is a mixture of as many states as the policies were taught, the most
structure. Policies that know states do better under the second; a gain counts if it holds under
both. Where rewards are 0 or 1, draws are chances, weighed by the exact likelihood.
"""

from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.learning import OrderModel, RewardTable
from lobandits.learning.prior import learn_prior
from lobandits.priors import Prior
from lobandits.simulation import Problems

STEPS, TOLERANCE = 120, 3e-4  # of EM
DIAGONAL = 2.0  # users who tell the variances only, so that covariances of few users are sound
CANDIDATES = 24  # draws of which one is kept, where rewards are 0 or 1
LEAST = 2e-3  # of a chance
REPEATS = 30  # rewards beyond the first of their cells, to tell how noisy they are
FAMILIES = ("one Gaussian", "states")
BOOTSTRAPS = 4


class JudgedRewards(NamedTuple):
    """What is known of judged users, (n, k), and the noise of rewards by arm, (k,)."""

    counts: IntArray
    sums: FloatArray
    noise: FloatArray
    binary: bool


class Population(NamedTuple):
    """Gaussians that users' means come from: shares (m,), means (m, k), covariances (m, k, k)."""

    shares: FloatArray
    means: FloatArray
    covariances: FloatArray


def draw_players(
    judged: RewardTable, model: OrderModel, binary: bool, players: int, seed: int
) -> tuple[FloatArray, IntArray]:
    """Return means of players under each family and bootstrap, and who of the judged they are.

    Users are resampled, priors learned and truths drawn anew for each bootstrap.
    """
    means, who = [], []
    for family in FAMILIES:
        for b in range(BOOTSTRAPS):
            rng = np.random.default_rng([seed, b])
            users = _resampled(judged, rng)
            own = 1000 * seed + b
            sample, n = judged.take(users), model.orders.n_states
            drawn = draw_truth(sample, binary, n, family, own, model.sigma)
            some = rng.permutation(
                np.resize(np.arange(judged.n_users), max(judged.n_users, players))
            )
            means.append(drawn[some[:players]])
            who.append(users[some[:players]])
    return np.concatenate(means), np.concatenate(who)


def _resampled(judged: RewardTable, rng: np.random.Generator) -> IntArray:
    """Return as many users, drawn with replacement; of every arm at least one who tried it."""
    users: IntArray = rng.integers(judged.n_users, size=judged.n_users)
    for a in np.flatnonzero(judged.counts[users].sum(axis=0) == 0):
        users[rng.integers(len(users))] = rng.choice(np.flatnonzero(judged.counts[:, a]))
    return users


def draw_truth(
    table: RewardTable, binary: bool, n_states: int, family: str, seed: int, sigma: float
) -> FloatArray:
    """Return means of all users of a table, (n, k), drawn under a prior learned from it.

    ``sigma`` counts where the table itself does not tell how noisy rewards are.
    """
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    repeats = int(np.maximum(table.counts - 1, 0).sum())
    noise = table.noise() if repeats >= REPEATS else sigma
    users = _rewards(table, binary, noise if noise > 0 else sigma)
    if family == "one Gaussian":
        return _draw(users, one_gaussian(users), rng)
    m = min(n_states, table.n_users)
    prior = learn_prior(table, n_states=m, sigma=sigma, seed=seed).prior
    return _draw(users, _population_of(prior), rng)


def _rewards(table: RewardTable, binary: bool, sigma: float) -> JudgedRewards:
    if binary:
        mean = (table.sums.sum(axis=0) + 1) / (table.counts.sum(axis=0) + 2)
        noise = mean * (1 - mean)
    else:
        noise = np.full(table.n_arms, sigma**2)
    return JudgedRewards(table.counts, table.sums, noise, binary)


def _population_of(prior: Prior) -> Population:
    directions = prior.means - prior.means.mean(axis=1, keepdims=True)
    personal = (prior.scales**2)[:, None, None] * directions[:, :, None] * directions[:, None, :]
    return Population(prior.shares, prior.means, prior.spread + prior.shift**2 + personal)


def one_gaussian(users: JudgedRewards) -> Population:
    r"""Return the Gaussian of the most evidence, by EM: :math:`m, S` of all users' means."""
    counts, sums, noise = users.counts, users.sums, users.noise
    n, k = counts.shape
    mean = (sums.sum(axis=0) + sums.sum() / counts.sum()) / (counts.sum(axis=0) + 1)
    away = sums - counts * mean
    squares = (away**2 / np.maximum(counts, 1)).sum() - (noise * (counts > 0)).sum()
    size = max(squares / counts.sum(), 0.02 * noise.mean())
    covariance = 0.5 * size * (np.eye(k) + 1)
    for _ in range(STEPS):
        centre, spread = _posterior(users, mean, covariance)
        step = centre.mean(axis=0) - mean
        mean, rest = mean + step, centre - centre.mean(axis=0)
        told = rest.T @ rest + spread.sum(axis=0)
        new = (told + DIAGONAL * np.diag(np.diag(covariance))) / (n + DIAGONAL)
        moved = np.abs(new - covariance).max() / np.abs(covariance).max()
        covariance = new
        if moved < TOLERANCE:
            break
    return Population(np.ones(1), mean[None], covariance[None])


def _posterior(
    users: JudgedRewards, mean: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return each user's posterior mean (n, k) and covariance (n, k, k). Cost O(n k^3)."""
    precision = (users.counts / users.noise)[:, :, None] * np.eye(len(mean))
    spread = np.linalg.inv(np.linalg.inv(covariance) + precision).astype(np.float64)
    told = (users.sums - users.counts * mean) / users.noise
    return mean + np.einsum("nab,nb->na", spread, told), spread


def _draw(users: JudgedRewards, population: Population, rng: np.random.Generator) -> FloatArray:
    """Return one draw of each user's means from the posterior under the population."""
    states = _states(users, population, rng)
    n, k = users.counts.shape
    draws = np.empty((n, k))
    for s in np.unique(states):
        some = np.flatnonzero(states == s)
        part = users._replace(counts=users.counts[some], sums=users.sums[some])
        centre, spread = _posterior(part, population.means[s], population.covariances[s])
        n_draws = CANDIDATES if users.binary else 1
        normal = rng.standard_normal((len(some), n_draws, k))
        root = np.linalg.cholesky(spread)
        drawn = centre[:, None] + np.einsum("nab,ndb->nda", root, normal)
        draws[some] = _chances(part, drawn, rng) if users.binary else drawn[:, 0]
    return draws


def _states(users: JudgedRewards, population: Population, rng: np.random.Generator) -> IntArray:
    """Draw each user's state; its chance is the share times the evidence of the averages."""
    n, m = len(users.counts), len(population.shares)
    if m == 1:
        return np.zeros(n, dtype=np.int64)
    log = np.empty((n, m))
    weight = users.counts / users.noise
    for s, (mean, covariance) in enumerate(
        zip(population.means, population.covariances, strict=True)
    ):
        told = (users.sums - users.counts * mean) / users.noise
        inverse = np.linalg.inv(covariance)[None] + weight[:, :, None] * np.eye(len(mean))
        gain = np.einsum("na,na->n", told, np.linalg.solve(inverse, told[:, :, None])[:, :, 0])
        fit = (weight * mean - 2 * users.sums / users.noise) @ mean  # less a constant of the user
        size = np.linalg.slogdet(inverse)[1] + np.linalg.slogdet(covariance)[1]
        log[:, s] = np.log(population.shares[s]) + 0.5 * (gain - fit - size)
    chances = np.exp(log - log.max(axis=1, keepdims=True))
    edges = np.cumsum(chances, axis=1) / chances.sum(axis=1, keepdims=True)
    states: IntArray = np.minimum((edges < rng.random((n, 1))).sum(axis=1), m - 1)
    return states


def _chances(users: JudgedRewards, drawn: FloatArray, rng: np.random.Generator) -> FloatArray:
    r"""Return one of each user's draws (n, d, k), cut to chances.

    Draws come from a Gaussian likelihood, and are weighed by Bernoulli's over it.
    """
    cut = np.clip(drawn, LEAST, 1 - LEAST)
    counts, sums = users.counts[:, None], users.sums[:, None]
    exact = sums * np.log(cut) + (counts - sums) * np.log1p(-cut)
    working = -0.5 * (counts * drawn**2 - 2 * sums * drawn) / users.noise
    log = (exact - working).sum(axis=2)
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    edges = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)
    kept = np.minimum((edges < rng.random((len(cut), 1))).sum(axis=1), cut.shape[1] - 1)
    one: FloatArray = cut[np.arange(len(cut)), kept]
    return one


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
    means: FloatArray, model: OrderModel, binary: bool, residuals: FloatArray | None
) -> Problems:
    """Return users of these means, who know what a model says; rewards 0 or 1, or as residuals."""
    return Problems(
        means=means,
        sigma=model.sigma,
        states=np.full(len(means), -1),
        orders=model.orders,
        state_means=model.state_means,
        rewards="bernoulli" if binary else "gaussian",
        past=model.prior,
        residuals=residuals,
    )
