"""Greedy k-means++: the users at whose orders k-means starts."""

import math
from dataclasses import replace

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.learning.kendall import PairSigns, agreements, order_signs, rank

MOST_USERS = 50_000  # seeds are chosen among at most so many users, drawn at random


def plus_plus(
    users: PairSigns, values: FloatArray, n_states: int, rng: np.random.Generator
) -> IntArray:
    """Return users (n_states,) whose ``values`` are the first centres.

    Greedy k-means++ (Arthur and Vassilvitskii 2007): each next one is drawn with probability
    proportional to its excess over the nearest order so far; of a few draws the one that lowers
    the total most is kept. Fewer come back once all excesses are 0.
    """
    known = np.arange(len(users))
    if len(users) > MOST_USERS:
        known = np.sort(rng.choice(len(users), MOST_USERS, replace=False))
    sample, orders = users.take(known), rank(values[known])
    sample = replace(sample, signs=sample.signs.astype(np.float32))  # once, not at each product
    trials = 2 + int(math.log(n_states))
    seeds = [int(rng.integers(len(known)))]
    closest = _excess(sample, orders[seeds])[:, 0]
    while len(seeds) < n_states and closest.any():
        drawn = _draw(closest, rng.random(trials))
        lowered = np.minimum(_excess(sample, orders[drawn]), closest[:, None])
        best = int(lowered.sum(axis=0).argmin())
        seeds.append(int(drawn[best]))
        closest = lowered[:, best]
    return known[seeds]


def _excess(users: PairSigns, orders: IntArray) -> FloatArray:
    products = np.concatenate([block for _, block in agreements(users, order_signs(orders))])
    return np.ascontiguousarray(users.excess(products.T).T)


def _draw(weights: FloatArray, noise: FloatArray) -> IntArray:
    """Return the places at which the shares of the total reach ``noise``, from [0, 1)."""
    sums = np.cumsum(weights)
    places = np.searchsorted(sums, noise * sums[-1], side="right")
    return np.asarray(np.minimum(places, np.flatnonzero(weights)[-1]))
