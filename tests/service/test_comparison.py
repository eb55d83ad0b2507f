"""The band of the difference between two groups: against a plain twin, and on simulated users."""

import math
import statistics

import numpy as np
import pytest

from lobandits.service.comparison import Band, UserSums, boundary, difference_band


def sums_of(values: np.ndarray, control: np.ndarray) -> UserSums:
    """Return the sums after each user."""
    mine = np.stack([~control, control])
    centre = float(values[0])
    return UserSums(
        np.cumsum(mine, axis=1, dtype=np.float64),
        np.cumsum(np.where(mine, values, 0.0), axis=1),
        np.cumsum(np.where(mine, (values - centre) ** 2, 0.0), axis=1),
        np.minimum.accumulate(np.where(mine, values, np.inf), axis=1),
        np.maximum.accumulate(np.where(mine, values, -np.inf), axis=1),
        centre,
    )


def plain_band(model: list[float], control: list[float]) -> tuple[float, float, float]:
    """The formula of the docstring, user by user."""
    n = len(model) + len(control)
    r = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05)) + 1) / 2000
    difference = statistics.fmean(model) - statistics.fmean(control)
    for group in (model, control):
        middle = statistics.fmean(group)
        squares = [(value - middle) ** 2 for value in group]
        if len(group) < 50 or max(squares) > sum(squares) / 20:
            return difference, -math.inf, math.inf
    error = math.sqrt(sum(statistics.variance(g) / len(g) for g in (model, control)))
    wide = math.sqrt(2 * (1 + 1 / (n * r)) * math.log(math.sqrt(1 + n * r) / 0.05))
    return difference, difference - error * wide, difference + error * wide


@pytest.mark.parametrize("centre", [0.0, 1e6])
def test_the_band_is_its_plain_twin(centre: float) -> None:
    rng = np.random.default_rng(3)
    values, control = centre + rng.exponential(2.0, 700), rng.random(700) < 0.3
    band = difference_band(sums_of(values, control))
    for n in (60, 200, 450, 700):
        groups = [values[:n][control[:n] == which].tolist() for which in (False, True)]
        found = [float(row[n - 1]) for row in band]
        np.testing.assert_allclose(found, plain_band(*groups), rtol=1e-6, atol=1e-6)


def test_there_is_no_band_before_there_are_users_enough() -> None:
    def at_the_end(model: list[float], control: list[float]) -> Band:
        values = np.array([*model, *control])
        band = difference_band(sums_of(values, np.arange(len(values)) >= len(model)))
        return Band(*(row[-1:] for row in band))

    assert math.isnan(at_the_end([1.0, 2.0], []).difference[0])
    few = at_the_end([1.0, 2.0] * 20, [1.0, 2.0] * 100)
    assert few.difference == [0.0]
    assert few.low == [-math.inf]
    assert few.high == [math.inf]
    same = at_the_end([0.0] * 100, [0.0] * 100)  # all alike: nothing is known of the spread
    assert same.difference == [0.0]
    assert same.high == [math.inf]
    outlier = at_the_end([0.0, 1.0] * 50, [0.0, 1.0] * 50 + [1e6])
    assert outlier.high == [math.inf]
    assert at_the_end([0.0, 1.0] * 50, [0.0, 1.0] * 50).high[0] < 0.3


def test_a_wider_band_is_surer() -> None:
    users = np.array([100.0, 2_000.0, 100_000.0])
    assert (boundary(users, 0.01) > boundary(users, 0.05)).all()
    assert (boundary(users, 0.05) > 1.96).all()  # looking all the time has its price
    assert boundary(users, 0.05)[1] < 3.2


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_looked_at_after_every_user_it_seldom_errs(share: float) -> None:
    """Of 200 runs about 2 in 100 err; 5 in 100 are allowed."""
    rng = np.random.default_rng(11)
    missed = alarms = 0
    found = []
    for _ in range(200):
        control = rng.random(3_000) < share
        taste = rng.binomial(10, rng.beta(3.0, 7.0, 3_000)) / 10
        equal = difference_band(sums_of(taste, control))
        alarms += bool(((equal.low > 0) | (equal.high < 0)).any())
        band = difference_band(sums_of(taste + np.where(control, 0.0, 0.03), control))
        missed += bool(((band.low > 0.03) | (band.high < 0.03)).any())
        found.append((np.flatnonzero(band.low > 0) + 1).min(initial=10**6))
    assert alarms <= 10
    assert missed <= 10
    assert np.median(found) <= 3_000
