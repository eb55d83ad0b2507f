"""Where EM starts, and how states are found: one state first, then groups of users' directions."""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.beliefs.likelihood import FAR, Likelihood
from lobandits.beliefs.prior import Prior
from lobandits.learning.em import (
    LEAST_SCALE,
    SCALE_USERS,
    Map,
    Parameters,
    Pull,
    Users,
    blocks_of,
    climb,
)

FEW_LOADINGS, MANY_LOADINGS, MANY_ARMS = 8, 16, 100  # ceilings; columns die by themselves
FIRST_STEPS = 120
STARTS, SHORT, LONG = 3, 12, 60  # climbs, their steps, and those of the best
RESTARTS, ROUNDS = 8, 30  # of the grouping
CANDIDATES = 4  # for each new centre
SEED = 20230  # of where subspace iteration starts
SUBSPACE_ROUNDS = 30
LEAST, MOST = 0.1, 2.0  # variances of tastes to start from, where rewards are not Gaussian


class Population(NamedTuple):
    """What is known of users before they are told apart."""

    one: Parameters  # the one state of them all
    pull: Pull
    tastes: FloatArray  # (n, k): users' tastes as it sees them


class Data(NamedTuple):
    """Counts and sums of users, (n, k); squares within cells and rewards if sigma is unknown."""

    counts: FloatArray | IntArray
    sums: FloatArray
    within: tuple[float, float] | None
    lifts: FloatArray | None = None  # what features add to users' tastes, (n, k)

    def take(self, users: FloatArray | IntArray) -> "Data":
        """Return some users; sigma, if unknown, stays what it was."""
        lifts = None if self.lifts is None else self.lifts[users]
        return Data(self.counts[users], self.sums[users], None, lifts)

    @property
    def blocks(self) -> list[Users]:
        """The users in blocks."""
        return blocks_of(self.counts, self.sums, self.lifts)


def prior_of(p: Parameters, arms: tuple[str, ...] | None = None) -> Prior:
    """Return the parameters as a prior; without names, arms are numbers."""
    names = arms or tuple(map(str, range(p.means.shape[1])))
    return Prior(names, p.shares, p.means, p.loadings, p.own, p.scales, p.likelihood)


def population(data: Data, likelihood: Likelihood, run: Map = map) -> Population:
    """Return the one state of some users, and where more states start from."""
    p, pull = first_guess(data, likelihood)
    p, pull, _ = climb(data.blocks, p, pull, FIRST_STEPS, data.within, run)
    return Population(p, pull, tastes(data, p))


def first_guess(data: Data, likelihood: Likelihood) -> tuple[Parameters, Pull]:
    """Return where EM starts: arms' means, and what scores of pairs of arms tell of loadings."""
    counts, sums = data.counts, data.sums
    k = counts.shape[1]
    grand = sums.sum() / counts.sum()
    mean = (sums.sum(axis=0) + grand) / (counts.sum(axis=0) + 1.0)
    centre = np.clip(
        likelihood.link(mean), *((-FAR, FAR) if not likelihood.exact else (None, None))
    )
    scores = Scores.of(data, centre, likelihood)
    own, common = scores.variances()
    least = LEAST if not likelihood.exact else _least_own(data, likelihood)
    own, common = max(own, least), max(common, least)
    if not likelihood.exact:
        own, common = min(own, MOST), min(common, MOST)
    r = min(MANY_LOADINGS if k > MANY_ARMS else FEW_LOADINGS, k)
    loadings = np.empty((k, r))
    loadings[:, 0] = np.sqrt(common)
    loadings[:, 1:] = scores.loadings(r - 1, common, own)
    left = max(own - float((loadings[:, 1:] ** 2).sum()) / k, 0.3 * own)
    p = Parameters(
        shares=np.ones(1),
        means=centre[None].copy(),
        loadings=loadings,
        own=np.full(k, left),
        scales=np.full(1, LEAST_SCALE),
        likelihood=likelihood,
    )
    pull = Pull(
        means=np.full((1, k), float(centre.mean())),
        mean_variance=float(centre.var()) + own,
        shift=float(np.sqrt(common)),
        column_variance=np.full(r, own),
        own=left,
        own_variance=left**2,
        scale_precision=SCALE_USERS,
    )
    return p, pull


def _least_own(data: Data, likelihood: Likelihood) -> float:
    """Return the least variance to start from; large where noise must be told from it."""
    noise = float(likelihood.noise(np.zeros(data.counts.shape[1])).mean())
    return max((0.25 if data.within is not None else 1e-3) * noise, 1e-12)


class Scores(NamedTuple):
    r"""Users' scores e, and what their cells tell, i, at the population's means; (n, k) each.

    For small deviations of tastes, :math:`E e_{ua} e_{ub} = i_{ua} i_{ub} C_{ab}` for two arms, and
    :math:`E e_{ua}^2 = i_{ua} + i_{ua}^2 C_{aa}`: so pairs of arms tell the covariance C of tastes,
    and EM, which is slow where loadings are small, starts where they are.
    """

    e: FloatArray
    i: FloatArray

    @classmethod
    def of(cls, data: Data, centre: FloatArray, likelihood: Likelihood) -> "Scores":
        """Return the scores of users around the population's means, ``centre``."""
        slope = likelihood.slope(centre)
        weight = slope / likelihood.noise(likelihood.mean(centre))
        lifted = centre if data.lifts is None else centre + data.lifts
        e = weight * (data.sums - data.counts * likelihood.mean(lifted))
        return cls(e, data.counts * (weight * slope))

    def variances(self) -> tuple[float, float]:
        """Return what tastes vary by in one arm only, and in all arms alike; perhaps below 0."""
        e, i = self.e, self.i
        pairs = float((i.sum(axis=1) ** 2 - (i**2).sum(axis=1)).sum())
        common = float((e.sum(axis=1) ** 2 - (e**2).sum(axis=1)).sum()) / max(pairs, 1e-300)
        both = float((e**2 - i).sum() / max(float((i**2).sum()), 1e-300))
        return both - common, common

    def loadings(self, r: int, common: float, own: float) -> FloatArray:
        """Return the r largest directions of C without what all arms have in common, (k, r).

        By subspace iteration on products with the scores; the noise on the diagonal is taken out.
        O(n k r) a round, and nothing of the size k x k.
        """
        (n, k), told = self.e.shape, np.maximum(self.i.sum(axis=0), 1e-300)
        scaled = np.sqrt(n) * self.e / told
        diagonal = (scaled**2).sum(axis=0) - own - common

        def product(x: FloatArray) -> FloatArray:
            y: FloatArray = scaled.T @ (scaled @ x) - diagonal[:, None] * x - common * x.sum(axis=0)
            return y

        rng = np.random.default_rng(SEED)
        basis = np.linalg.qr(rng.standard_normal((k, min(k, r + 4))))[0]
        lift = float(np.abs(diagonal).max())  # makes the largest eigenvalues those of largest size
        for _ in range(SUBSPACE_ROUNDS):
            basis = np.linalg.qr(product(basis) + lift * basis)[0]
        values, vectors = np.linalg.eigh(basis.T @ product(basis))
        top = np.argsort(-values)[:r]
        size = np.sqrt(np.clip(values[top] / k, 0.01 * own, own))
        chosen = basis @ vectors[:, top] * np.sqrt(k) * size
        return np.pad(chosen, ((0, 0), (0, r - chosen.shape[1])))


def tastes(data: Data, p: Parameters) -> FloatArray:
    """Return each user's tastes as the parameters see them, (n, k), less what features add."""
    share, _, eta, _ = prior_of(p)._tastes(data.counts.astype(np.float64), data.sums, data.lifts)
    means: FloatArray = np.einsum("nj,nja->na", share, eta)
    return means if data.lifts is None else means - data.lifts


def fit_states(
    data: Data,
    everybody: Population,
    n_states: int,
    rng: np.random.Generator,
    starts: int = STARTS,
    steps: int = LONG,
    run: Map = map,
) -> tuple[Parameters, Pull]:
    """Return the parameters of so many states, of the same users as ``everybody``."""
    if n_states == 1:
        return everybody.one, everybody.pull
    best, kept, strength, users = -np.inf, everybody.one, everybody.pull, data.blocks
    for i in range(starts):
        start, pull = grouped(everybody, n_states, rng, around=i % 2 == 0)
        blocks = data.blocks
        p, pull, trace = climb(blocks, start, pull, SHORT, None, run)
        if trace[-1] > best:
            best, kept, strength, users = trace[-1], p, pull, blocks
    p, pull, _ = climb(users, kept, strength, steps, data.within, run)
    return p, pull


def grouped(
    everybody: Population, n_states: int, rng: np.random.Generator, around: bool
) -> tuple[Parameters, Pull]:
    """Return states at the groups of users whose tastes point in the same direction.

    Users of one state differ in scale and shift, so their tastes without the average over arms
    have the same direction, not the same length; seen from 0, or from the average user (``around``)
    where all like some arms.
    """
    tastes, one = everybody.tastes, everybody.one
    labels = _group_directions(tastes - around * tastes.mean(axis=0), n_states, rng)
    sizes = np.bincount(labels, minlength=n_states)
    centres = np.zeros((n_states, tastes.shape[1]))
    np.add.at(centres, labels, tastes)
    centres = np.where(sizes[:, None] > 0, centres / np.maximum(sizes, 1)[:, None], one.means[0])
    loadings = one.loadings.copy()
    loadings[:, 1:] *= 0.5
    p = Parameters(
        shares=(sizes + 1.0) / (len(tastes) + n_states),
        means=centres,
        loadings=loadings,
        own=one.own.copy(),
        scales=np.full(n_states, 0.3),
        likelihood=one.likelihood,
    )
    spread = float(((centres - one.means) ** 2).mean()) + 1e-12
    pull = everybody.pull._replace(means=one.means, mean_variance=spread)
    return p, pull


def _group_directions(means: FloatArray, m: int, rng: np.random.Generator) -> IntArray:
    """Return the best of some spherical k-means: labels that maximise the sum of w cos."""
    centred = means - means.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    typical = max(float(np.median(length)), 1e-300)
    units = centred / np.maximum(length, 1e-12 * typical)[:, None]
    weight = length / (length + typical)  # short means have no clear direction
    best, kept = -np.inf, np.zeros(len(means), dtype=np.int64)
    for _ in range(RESTARTS):
        centres = _lloyd(units, weight, _seeded(units, weight, m, rng))
        closeness = units @ centres.T
        value = float((weight * closeness.max(axis=1)).sum())
        if value > best:
            best, kept = value, closeness.argmax(axis=1)
    return kept


def _seeded(units: FloatArray, weight: FloatArray, m: int, rng: np.random.Generator) -> FloatArray:
    """Return m users far from each other: k-means++, the best of some candidates for each."""
    centres = [units[rng.integers(len(units))]]
    away = np.maximum(1.0 - units @ centres[0], 0.0)
    while len(centres) < m:
        mass = away * weight + 1e-300
        some = rng.choice(len(units), size=CANDIDATES, p=mass / mass.sum())
        left = [np.minimum(away, np.maximum(1.0 - units @ units[u], 0.0)) for u in some]
        pick = int(np.argmin([(weight * rest).sum() for rest in left]))
        away = left[pick]
        centres.append(units[some[pick]])
    return np.array(centres)


def _lloyd(units: FloatArray, weight: FloatArray, centres: FloatArray) -> FloatArray:
    """Return the centres after some rounds of spherical k-means; an empty group keeps its own."""
    for _ in range(ROUNDS):
        labels = (units @ centres.T).argmax(axis=1)
        members = labels[:, None] == np.arange(len(centres))
        sums = (members * weight[:, None]).T @ units
        length = np.sqrt((sums**2).sum(axis=1, keepdims=True))
        moved = np.where(length > 0, sums / np.maximum(length, 1e-300), centres)
        if np.abs(moved - centres).max() < 1e-9:
            break
        centres = moved
    return centres
