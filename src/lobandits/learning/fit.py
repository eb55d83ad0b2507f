"""Fit a number of states to users: the best of some short climbs of EM, climbed to the end."""

from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.learning.mixture import Parameters, Penalty, climb
from lobandits.learning.starts import grouped, one_state, posterior_means

STARTS, SHORT, LONG = 3, 15, 150  # climbs, their steps, and those of the best


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
