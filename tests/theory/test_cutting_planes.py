"""Cutting planes against linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from lobandits.basics.checks import FloatArray
from lobandits.theory.cutting_planes import TOLERANCE, cover


@pytest.mark.parametrize("seed", range(20))
def test_finite_families_give_the_linear_programs_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, families = int(rng.integers(1, 8)), int(rng.integers(1, 60))
    costs = rng.uniform(0.1, 2.0, n)
    rows = rng.exponential(1.0, (families, n)) * (rng.random((families, n)) < 0.6)
    rows[:, 0] += 0.1
    start = np.full(n, 10.0)
    result = cover(costs, lambda _: rows, start)
    exact = linprog(costs, A_ub=-rows, b_ub=-np.ones(families)).fun
    assert costs @ result.plan == pytest.approx(exact, rel=1e-6)
    assert (rows @ result.plan).min() == pytest.approx(1.0)
    assert result.lower == pytest.approx(exact, rel=1e-6)
    assert result.lower <= exact * (1 + 1e-12)
    assert result.shares.sum() == pytest.approx(result.lower)


def test_infinite_families_are_covered_by_cuts() -> None:
    """Rows (cos t, sin t)^2 for t in [0, pi/2]: y1 and y2 must both be 1."""
    angles = np.linspace(0, np.pi / 2, 1001)
    circle = np.column_stack([np.cos(angles), np.sin(angles)]) ** 2

    def separate(y: FloatArray) -> FloatArray:
        return circle[[int((circle @ y).argmin())]]

    result = cover(np.array([1.0, 3.0]), separate, np.array([5.0, 2.0]))
    np.testing.assert_allclose(result.plan, [1.0, 1.0])
    assert result.rounds >= 2


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_certificates_do_not_depend_on_the_scale(scale: float) -> None:
    rng = np.random.default_rng(1)
    costs = rng.uniform(0.1, 2.0, 5)
    rows = rng.exponential(1.0, (30, 5))
    base = cover(costs, lambda _: rows, np.full(5, 10.0))
    result = cover(costs * scale, lambda _: rows / scale, np.full(5, 10.0) * scale)
    assert result.lower == pytest.approx(base.lower * scale**2, rel=1e-6)
    assert 1 - result.lower / (scale * costs @ result.plan) <= TOLERANCE


def test_columns_of_very_different_size() -> None:
    costs = np.array([1e-9, 1.0, 1e3])
    rows = np.array([[1e-18, 0.0, 0.0], [1e-12, 1.0, 1e6], [0.0, 1e-4, 1e3]])
    result = cover(costs, lambda _: rows, np.full(3, 1e18))
    price = float(costs @ result.plan)
    assert (rows @ result.plan >= 1 - 1e-12).all()
    assert 1 - result.lower / price <= 1e-6
