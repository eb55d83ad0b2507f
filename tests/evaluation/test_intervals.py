"""Intervals of gains: what they cover, and what widens them."""

import numpy as np

from lobandits.evaluation.intervals import families_standing, spanning_interval


def test_intervals_cover_at_least_their_level() -> None:
    rng = np.random.default_rng(0)
    shape, inside = (3, 2, 4, 40), 0
    for _ in range(300):
        shared = 0.2 * rng.standard_normal((3, 1, 4, 1))  # of each bootstrap
        split = 0.2 * rng.standard_normal((3, 1, 1, 1))  # its own error, of the same size
        values = 1.0 + split + shared + rng.standard_normal(shape)
        found = spanning_interval(values, 200, 0.95)
        inside += found.low <= 1.0 <= found.high
    assert inside / 300 > 0.95 - 4 * np.sqrt(0.05 * 0.95 / 300)


def test_the_interval_spans_both_families() -> None:
    values = np.zeros((3, 2, 4, 10)) + np.array([1.0, 3.0])[:, None, None]
    found = spanning_interval(values, 100, 0.95)
    assert (found.mean, found.low, found.high) == (2.0, 0.0, 4.0)  # and half of their distance


def test_a_family_falls_only_where_judged_users_refute_it_clearly() -> None:
    values = np.zeros((3, 2, 4, 10)) + np.array([1.0, 3.0])[:, None, None]
    noise = np.random.default_rng(0).standard_normal(400)
    noise -= noise.mean()
    for shift, first in ((0.0, 0), (0.1, 0), (-1.0, 0), (0.2, 1)):
        standing = families_standing(noise + shift)
        assert standing.start == first
    found = spanning_interval(values, 100, 0.95, standing)
    assert (found.mean, found.low, found.high) == (3.0, 2.0, 4.0)
    assert families_standing(np.zeros(9)).start == 0
