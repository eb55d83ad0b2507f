"""Fit a number of states to users: the best of some short climbs of EM, climbed to the end.

EM starts from one Gaussian, whose posterior means are grouped by the directions they take.
"""

from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import writable
from lobandits.learning.mixture import Parameters, Penalty, climb, components_of, log_evidence
from lobandits.priors.posterior import make_posterior, posterior_of_users

STARTS, SHORT, LONG = 3, 15, 150  # climbs, their steps, and those of the best
RESTARTS, ROUNDS = 8, 30  # of the grouping
CANDIDATES = 4  # for each new centre
FIRST_STEPS = 300
NO_SPREAD = 1e-6  # of sigma^2: nothing, but matrices stay invertible
SHIFTS, SCALES = (0.0, 0.5, 0.75, 1.0, 1.4), (0.0, 0.2, 0.4, 0.8)  # of users who are alike


class Population(NamedTuple):
    """What is known of users before they are told apart."""

    one: Parameters  # the Gaussian of them all
    penalty: Penalty  # which this brings for states
    means: FloatArray  # (n, k): users' means as it sees them


def population(
    counts: IntArray, sums: FloatArray, sigma: float, extra: tuple[float, float] | None = None
) -> Population:
    """Return the one state of some users, and where more states start from."""
    one, penalty = one_state(counts, sums, sigma, extra)
    return Population(one, penalty, posterior_means(counts, sums, one))


def fit_states(
    counts: IntArray,
    sums: FloatArray,
    everybody: Population,
    n_states: int,
    rng: np.random.Generator,
    starts: int = STARTS,
    steps: int = LONG,
    extra: tuple[float, float] | None = None,
    workers: int | None = None,
) -> Parameters:
    """Return the parameters of so many states, of the same users as ``everybody``."""
    if n_states == 1:
        return everybody.one
    best, found = -np.inf, everybody.one
    for _ in range(starts):
        start = grouped(everybody.means, everybody.one, n_states, rng)
        p, trace = climb(counts, sums, start, everybody.penalty, SHORT, None, workers)
        if trace[-1] > best:
            best, found = trace[-1], p
    return climb(counts, sums, found, everybody.penalty, steps, extra, workers)[0]


def one_state(
    counts: IntArray, sums: FloatArray, sigma: float, extra: tuple[float, float] | None = None
) -> tuple[Parameters, Penalty]:
    """Return the Gaussian of the whole population, and the penalty that it brings for states."""
    k = counts.shape[1]
    grand = sums.sum() / counts.sum()
    mean = (sums.sum(axis=0) + grand) / (counts.sum(axis=0) + 1)
    own, common = _moments(counts, sums, mean, sigma)
    least = 1e-4 * sigma**2
    if extra is not None:  # sigma starts at all that is seen; the model tells the two apart
        least = 0.25 * sigma**2
    own, common = max(own, least, 1e-12), max(common, least, 1e-12)
    weak = Penalty(mean, np.eye(k) / (own + common), np.full(k, own), means=1e-3)
    start = Parameters(np.ones(1), mean[None], own * np.eye(k), common**0.5, np.full(1, 0.3), sigma)
    p, _ = climb(counts, sums, start, weak, FIRST_STEPS, extra)
    d = p.means[0] - p.means[0].mean()
    covariance = p.spread + p.shift**2 + p.scales[0] ** 2 * np.outer(d, d)
    return p, Penalty(p.means[0], np.linalg.inv(covariance), np.diag(p.spread).copy())


def _moments(
    counts: IntArray, sums: FloatArray, mean: FloatArray, sigma: float
) -> tuple[float, float]:
    r"""Return what users' means vary by in one arm only, and in all arms alike; perhaps below 0.

    With y the averages of cells less the arm's mean, E y_a y_b is the common variance for two arms
    of one user, and E y_a^2 the sum of both and of sigma^2 / n. EM is slow where variances are
    small, so it starts where they are.
    """
    away = sums - counts * mean  # n y
    total = away.sum(axis=1)
    pairs = (counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1)).sum()
    common = ((total**2).sum() - (away**2).sum()) / max(pairs, 1)
    squares = (away**2 / np.maximum(counts, 1)).sum()  # n y^2
    both = (squares - sigma**2 * np.count_nonzero(counts)) / counts.sum()
    return float(both - common), float(common)


def all_alike(
    counts: IntArray, sums: FloatArray, one: Parameters, sigma_known: bool = True
) -> Parameters:
    """Return the one state whose users differ in shift and scale only: all have its order.

    Both are those of a grid with the most evidence; so is sigma, if it is not known: what users of
    one state seem to differ by may as well be noise.
    """
    k = len(one.spread)
    shift = float(np.sqrt(one.shift**2 + max(one.spread.mean(), 0.0)))
    noisy = float(np.sqrt(one.sigma**2 + np.trace(one.spread) / k))
    options = [
        one._replace(
            spread=NO_SPREAD * sigma**2 * np.eye(k),
            shift=a * shift,
            scales=np.full(1, b),
            sigma=sigma,
        )
        for sigma in ((one.sigma,) if sigma_known else (one.sigma, noisy))
        for a in SHIFTS
        for b in SCALES
    ]
    return max(options, key=lambda p: log_evidence(counts, sums, p).sum())


def posterior_means(counts: IntArray, sums: FloatArray, p: Parameters) -> FloatArray:
    """Return each user's means as the parameters see them, (n, k)."""
    (n, k), m = counts.shape, len(p.means)
    shares, means, log = np.empty((n, m + 1)), np.empty((n, k)), np.empty(n)
    room = make_posterior(1, m, k)
    known = writable(counts), writable(sums)
    posterior_of_users(*known, p.sigma, components_of(p), room, shares, means, log)
    return means


def grouped(
    means: FloatArray, one: Parameters, n_states: int, rng: np.random.Generator
) -> Parameters:
    """Return states at the groups of users whose means point in the same direction.

    Users of one state differ in scale and shift, so their means without the average over arms
    have the same direction, not the same length.
    """
    labels = _group_directions(means, n_states, rng)
    sizes = np.bincount(labels, minlength=n_states)
    centres = np.zeros((n_states, means.shape[1]))
    np.add.at(centres, labels, means)
    centres = np.where(sizes[:, None] > 0, centres / np.maximum(sizes, 1)[:, None], one.means[0])
    residuals = means - centres[labels]
    spread = 0.5 * np.cov(residuals.T) + 0.1 * np.diag(np.diag(one.spread))
    shares = (sizes + 1.0) / (len(means) + n_states)
    scales = np.full(n_states, 0.3)
    return Parameters(shares, centres, np.atleast_2d(spread), one.shift, scales, one.sigma)


def _group_directions(means: FloatArray, m: int, rng: np.random.Generator) -> IntArray:
    """Return the best of some spherical k-means: labels that maximise the sum of w cos."""
    centred = means - means.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    typical = max(float(np.median(length)), 1e-300)
    units = centred / np.maximum(length, 1e-12 * typical)[:, None]
    weight = length / (length + typical)  # short means have no clear direction
    best, found = -np.inf, np.zeros(len(means), dtype=np.int64)
    for _ in range(RESTARTS):
        centres = _lloyd(units, weight, _seeded(units, weight, m, rng))
        closeness = units @ centres.T
        value = float((weight * closeness.max(axis=1)).sum())
        if value > best:
            best, found = value, closeness.argmax(axis=1)
    return found


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
