r"""The truth about judged users: means drawn from their posteriors, never a raw mean.

Of a user u with counts n and sums s of rewards we draw

.. math:: \mu_u \sim p(\mu \mid n_u, s_u), \qquad \mu \sim N(m, S)

under a prior that was learned on judged users alone. Two families of priors stand for what few
rewards leave open. *One Gaussian* with any mean and covariance is the least structure that fits:
users are of no types. *States* is a mixture of as many states as the policies were taught, the most
structure. Policies that know states do better under the second. Which family foretells judged users
better is told by their rewards, under what teachers taught of each (`Players.evidence`).

What an arm earns on average is known badly where few tried it. So the average of all arms is drawn
from its posterior, a Gaussian around the solution of its normal equations, and both families are
moved there. Where rewards are 0 or 1, draws are chances, weighed by the exact likelihood.
"""

from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.learning import OrderModel, RewardTable
from lobandits.learning.fit import fit_states, population
from lobandits.learning.mixture import climb
from lobandits.simulation import Problems

STEPS, TOLERANCE = 60, 3e-3  # of EM
AGAIN = 12  # steps on resampled users, from where all judged users led
DIAGONAL = 2.0  # users who tell the variances only, so that covariances of few users are sound
FLAT = 100.0  # times the noise: the variance of arms' means before anything is known
CANDIDATES = 24  # draws of which one is kept, where rewards are 0 or 1
LEAST = 2e-3  # of a chance
REPEATS = 30  # rewards beyond the first of their cells, to tell how noisy they are
FAMILIES = ("one Gaussian", "states")
BOOTSTRAPS = 6


class JudgedRewards(NamedTuple):
    """What is known of judged users, (n, k), and the noise of rewards by arm, (k,)."""

    counts: IntArray
    sums: FloatArray
    noise: FloatArray
    binary: bool

    def take(self, users: IntArray) -> "JudgedRewards":
        """Return what is known of some users; somebody may come twice."""
        return self._replace(counts=self.counts[users], sums=self.sums[users])


class Population(NamedTuple):
    """Gaussians that users' means come from: shares (m,), means (m, k), covariances (m, k, k)."""

    shares: FloatArray
    means: FloatArray
    covariances: FloatArray

    def around(self, average: FloatArray) -> "Population":
        """Return the population moved as a whole, so that arms earn so much on average."""
        return self._replace(means=self.means + (average - self.shares @ self.means))


class Gaussian(NamedTuple):
    """One Gaussian of users' means, and what is left unknown of its mean."""

    mean: FloatArray  # (k,)
    covariance: FloatArray  # (k, k)
    unknown: FloatArray  # (k, k): the covariance of the mean, given all rewards

    @property
    def population(self) -> Population:
        """The Gaussian as the only one of its population."""
        return Population(np.ones(1), self.mean[None], self.covariance[None])


class Players(NamedTuple):
    """Who plays under the truths that were drawn, family after family, bootstrap after bootstrap.

    ``evidence`` is by how much more states foretell each judged user than one Gaussian does, both
    taught by teachers; (n_judged,).
    """

    means: FloatArray
    who: IntArray
    evidence: FloatArray


def draw_players(
    judged: RewardTable,
    teachers: RewardTable,
    model: OrderModel,
    binary: bool,
    players: int,
    seed: int,
) -> Players:
    """Return means of players under each family and bootstrap, and who of the judged they are.

    In each bootstrap, what arms earn on average is drawn from its posterior, and the same for both
    families. How users differ is learned anew from judged users, resampled.
    """
    users = _rewards(judged, binary, model.sigma)
    gaussian = one_gaussian(users)
    states = _StatesOfJudged(judged, model.orders.n_states, model.sigma, seed)
    root = np.linalg.cholesky(gaussian.unknown)
    order = np.random.default_rng([seed, 1]).permutation(judged.n_users)
    means: list[list[FloatArray]] = [[], []]
    who = [np.resize(np.roll(order, -b * players), players) for b in range(BOOTSTRAPS)]
    for b, some in enumerate(who):
        rng = np.random.default_rng([seed, 2, b])
        again = rng.integers(judged.n_users, size=judged.n_users)
        average = gaussian.mean + root @ rng.standard_normal(judged.n_arms)
        plain = one_gaussian(users.take(again), gaussian, AGAIN).population
        for g, family in enumerate((plain, states.again(again))):
            means[g].append(_draw(users.take(some), family.around(average), rng))
    taught = one_gaussian(_rewards(teachers, binary, model.sigma)).population
    evidence = log_evidence(users, _population_of(model)) - log_evidence(users, taught)
    return Players(np.concatenate(means[0] + means[1]), np.tile(np.concatenate(who), 2), evidence)


def _rewards(table: RewardTable, binary: bool, sigma: float) -> JudgedRewards:
    """Return what is known of users; ``sigma`` counts where they do not tell how noisy they are."""
    if binary:
        mean = (table.sums.sum(axis=0) + 1) / (table.counts.sum(axis=0) + 2)
        return JudgedRewards(table.counts, table.sums, mean * (1 - mean), binary)
    repeats = int(np.maximum(table.counts - 1, 0).sum())
    own = table.noise() if repeats >= REPEATS else sigma
    noise = np.full(table.n_arms, (own if own > 0 else sigma) ** 2)
    return JudgedRewards(table.counts, table.sums, noise, binary)


class _StatesOfJudged:
    """The states of judged users: learned from all of them once, and from resampled ones again."""

    def __init__(self, judged: RewardTable, n_states: int, sigma: float, seed: int) -> None:
        self.counts, self.sums = judged.counts, judged.sums
        everybody = population(self.counts, self.sums, sigma)
        rng = np.random.default_rng([seed, 3])
        m = min(n_states, judged.n_users)
        self.penalty = everybody.penalty
        self.found = fit_states(self.counts, self.sums, everybody, m, rng)

    def again(self, users: IntArray) -> Population:
        """Return the population of states that resampled users tell of, from where all led."""
        counts, sums = self.counts[users], self.sums[users]
        p, _ = climb(counts, sums, self.found, self.penalty, AGAIN, None, 1)
        return _mixture(p.shares, p.means, p.spread + p.shift**2, p.scales)


def _population_of(model: OrderModel) -> Population:
    prior = model.prior
    assert prior is not None
    return _mixture(prior.shares, prior.means, prior.spread + prior.shift**2, prior.scales)


def _mixture(
    shares: FloatArray, means: FloatArray, shared: FloatArray, scales: FloatArray
) -> Population:
    directions = means - means.mean(axis=1, keepdims=True)
    personal = (scales**2)[:, None, None] * directions[:, :, None] * directions[:, None, :]
    return Population(shares, means, shared + personal)


def one_gaussian(
    users: JudgedRewards, start: Gaussian | None = None, steps: int = STEPS
) -> Gaussian:
    r"""Return the Gaussian of the most evidence: :math:`m, S` of all users' means.

    S by EM; m by its normal equations, as EM hardly moves the mean of a rare arm: with
    :math:`W_u = (S + D_u)^{-1}` on the arms that u tried,

    .. math:: \Big(\sum_u W_u\Big) m = \sum_u W_u y_u .
    """
    n, k = users.counts.shape
    mean, covariance, unknown = start or _start(users)
    flat = np.eye(k) / (FLAT * users.noise.mean())
    for _ in range(steps):
        centre, spread = _posterior(users, mean, covariance)
        inverse = np.linalg.inv(covariance)
        told = n * inverse - inverse @ spread.sum(axis=0) @ inverse
        unknown = np.linalg.inv(told + flat)
        mean = mean + unknown @ inverse @ (centre - mean).sum(axis=0)
        rest = centre - mean
        own = rest.T @ rest + spread.sum(axis=0) + DIAGONAL * np.diag(np.diag(covariance))
        new = own / (n + DIAGONAL)
        change = np.abs(new - covariance).max() / np.abs(covariance).max()
        covariance = new
        if change < TOLERANCE:
            break
    return Gaussian(mean, covariance, 0.5 * (unknown + unknown.T))


def _start(users: JudgedRewards) -> Gaussian:
    counts, sums, noise = users.counts, users.sums, users.noise
    k = counts.shape[1]
    mean = (sums.sum(axis=0) + sums.sum() / counts.sum()) / (counts.sum(axis=0) + 1)
    away = sums - counts * mean
    squares = (away**2 / np.maximum(counts, 1)).sum() - (noise * (counts > 0)).sum()
    size = max(squares / counts.sum(), 0.02 * noise.mean())
    return Gaussian(mean, 0.5 * size * (np.eye(k) + 1), np.eye(k))


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
        part = users.take(some)
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
    log = _log_by_state(users, population)
    chances = np.exp(log - log.max(axis=1, keepdims=True))
    edges = np.cumsum(chances, axis=1) / chances.sum(axis=1, keepdims=True)
    states: IntArray = np.minimum((edges < rng.random((n, 1))).sum(axis=1), m - 1)
    return states


def log_evidence(users: JudgedRewards, population: Population) -> FloatArray:
    """Return the log evidence of each user's rewards, less a constant of the user, (n,)."""
    log = _log_by_state(users, population)
    most = log.max(axis=1)
    found: FloatArray = most + np.log(np.exp(log - most[:, None]).sum(axis=1))
    return found


def _log_by_state(users: JudgedRewards, population: Population) -> FloatArray:
    """Return the log of each state's share times the user's evidence, less the same constant."""
    log = np.empty((len(users.counts), len(population.shares)))
    weight = users.counts / users.noise
    for s, (mean, covariance) in enumerate(
        zip(population.means, population.covariances, strict=True)
    ):
        told = (users.sums - users.counts * mean) / users.noise
        inverse = np.linalg.inv(covariance)[None] + weight[:, :, None] * np.eye(len(mean))
        gain = np.einsum("na,na->n", told, np.linalg.solve(inverse, told[:, :, None])[:, :, 0])
        fit = (weight * mean - 2 * users.sums / users.noise) @ mean
        size = np.linalg.slogdet(inverse)[1] + np.linalg.slogdet(covariance)[1]
        log[:, s] = np.log(population.shares[s]) + 0.5 * (gain - fit - size)
    return log


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
