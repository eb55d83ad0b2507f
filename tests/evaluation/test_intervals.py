"""Intervals of gains: what they cover, and what widens them."""

import numpy as np

from lobandits.evaluation.intervals import families_standing, spanning_interval

FITS = 4


def test_intervals_cover_at_least_their_level() -> None:
    rng = np.random.default_rng(0)
    shape, inside = (3, 2, 8, 40), 0
    for _ in range(300):
        drawn = 0.2 * rng.standard_normal((3, 1, 8, 1))  # what draws vary by around the fit
        drawn[:, :, :FITS] = 0.0
        split = 0.2 * rng.standard_normal((3, 1, 1, 1))  # the fit's own error, of the same size
        values = 1.0 + split + drawn + rng.standard_normal(shape)
        found = spanning_interval(values, 200, 0.95, FITS)
        inside += found.low <= 1.0 <= found.high
    assert inside / 300 > 0.95 - 4 * np.sqrt(0.05 * 0.95 / 300)


def test_draws_tell_how_sure_a_gain_is_and_never_its_size() -> None:
    noise = np.random.default_rng(0).standard_normal((3, 2, 8, 40))
    values = 1.0 + 0.01 * noise
    surely = spanning_interval(values, 200, 0.95, FITS)
    values[:, :, FITS:] -= 5.0  # all draws underrate a policy alike
    assert spanning_interval(values, 200, 0.95, FITS) == surely
    values[:, :, FITS:] += np.array([-1.0, 0.0, 0.0, 1.0])[:, None]
    unsure = spanning_interval(values, 200, 0.95, FITS)
    assert unsure.mean == surely.mean
    assert unsure.high - unsure.low > 20 * (surely.high - surely.low)


def test_the_interval_spans_both_families() -> None:
    values = np.zeros((3, 2, 8, 10)) + np.array([1.0, 3.0])[:, None, None]
    found = spanning_interval(values, 100, 0.95, FITS)
    assert (found.mean, found.low, found.high) == (2.0, 0.0, 4.0)  # and half of their distance


def test_a_family_falls_only_where_judged_users_refute_it_clearly() -> None:
    values = np.zeros((3, 2, 8, 10)) + np.array([1.0, 3.0])[:, None, None]
    noise = np.random.default_rng(0).standard_normal(400)
    noise -= noise.mean()
    for shift, first in ((0.0, 0), (0.1, 0), (-1.0, 0), (0.2, 1)):
        standing = families_standing(noise + shift)
        assert standing.start == first
    found = spanning_interval(values, 100, 0.95, FITS, standing)
    assert (found.mean, found.low, found.high) == (3.0, 2.0, 4.0)
    assert families_standing(np.zeros(9)).start == 0
