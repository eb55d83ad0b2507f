"""Every kernel against a naive twin and independent solvers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from tests.projection.cases import KINDS, cases
from tests.projection.reference import naive, solved, with_top

import lobandits as lob
from lobandits.basics.checks import FloatArray

every_kind = pytest.mark.parametrize("kind", list(KINDS))


def close(a: FloatArray, b: FloatArray, scale: float) -> bool:
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9 * max(1.0, scale)))


def agrees_with_order(fit: FloatArray, order: lob.PartialOrder, top: int | None) -> bool:
    above = with_top(order.precedes, top)
    return all(fit[a] >= fit[b] for a, b in np.argwhere(above))


def tops_of(order: lob.PartialOrder) -> list[int | None]:
    return [None, *map(int, np.flatnonzero(order.maximal))]


@settings(max_examples=2000)
@given(cases("total", zero_weights=False, most=19))
def test_chains_agree_with_scipy(case: tuple[FloatArray, FloatArray, lob.PartialOrder]) -> None:
    values, weights, order = case
    ranking = list(order.ranking)
    expected = isotonic_regression(values[ranking], weights=weights[ranking], increasing=False).x
    fit = lob.project(values, weights, order)
    assert close(fit[ranking], expected, np.abs(values).max())


@every_kind
def test_agrees_with_quadprog(kind: str) -> None:
    @settings(max_examples=1000)
    @given(cases(kind), st.data())
    def check(case: tuple[FloatArray, FloatArray, lob.PartialOrder], data: st.DataObject) -> None:
        values, weights, order = case
        top = data.draw(st.sampled_from(tops_of(order)))
        fit = lob.project(values, weights, order, top=top)
        expected = solved(values, weights, with_top(order.precedes, top))
        played = weights > 0
        assert close(fit[played], expected[played], np.abs(values).max())
        assert agrees_with_order(fit, order, top)

    check()


@every_kind
@pytest.mark.plain
def test_agrees_with_naive_twin(kind: str) -> None:
    @settings(max_examples=100)
    @given(cases(kind, most=5), st.data())
    def check(case: tuple[FloatArray, FloatArray, lob.PartialOrder], data: st.DataObject) -> None:
        values, weights, order = case
        top = data.draw(st.sampled_from(tops_of(order)))
        fit = lob.project(values, weights, order, top=top)
        expected = naive(values, weights, with_top(order.precedes, top))
        played = weights > 0
        assert close(fit[played], expected[played], np.abs(values).max())

    check()


@settings(max_examples=500)
@given(cases("total"), st.floats(0.001, 5))
def test_min_gap_agrees_with_quadprog(
    case: tuple[FloatArray, FloatArray, lob.PartialOrder], gap: float
) -> None:
    values, weights, order = case
    place = np.argsort(order.ranking)
    gaps = np.asarray(gap * (place[None, :] - place[:, None]), np.float64)
    fit = lob.project(values, weights, order, min_gap=gap)
    expected = solved(values, weights, order.precedes, gaps)
    played = weights > 0
    assert close(fit[played], expected[played], np.abs(values).max() + gap * len(values))
    steps = -np.diff(fit[list(order.ranking)])
    assert (steps >= gap - 1e-9).all()


@every_kind
@pytest.mark.plain
def test_losses_are_those_of_the_projections(kind: str) -> None:
    @settings(max_examples=300)
    @given(cases(kind))
    def check(case: tuple[FloatArray, FloatArray, lob.PartialOrder]) -> None:
        values, weights, order = case
        losses = lob.projection_losses(values, weights, lob.LatentOrders.stack([order]))
        assert losses.shape == (1, order.n_arms)
        for arm in range(order.n_arms):
            if not order.maximal[arm]:
                assert losses[0, arm] == np.inf
                continue
            fit = lob.project(values, weights, order, top=arm)
            expected = float(weights @ (fit - values) ** 2)
            scale = float(weights @ np.abs(values) ** 2)
            assert losses[0, arm] == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)

    check()


@every_kind
def test_batches_equal_single_rows(kind: str) -> None:
    @settings(max_examples=50)
    @given(cases(kind), st.integers(0, 2**32))
    def check(case: tuple[FloatArray, FloatArray, lob.PartialOrder], seed: int) -> None:
        _, _, order = case
        rng = np.random.default_rng(seed)
        values = rng.normal(size=(2, 3, order.n_arms))
        weights = rng.integers(0, 4, size=values.shape).astype(float)
        batch = lob.project(values, weights, order)
        for i in np.ndindex(2, 3):
            assert (batch[i] == lob.project(values[i], weights[i], order)).all()

    check()


@every_kind
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_extreme_weights_and_shifts_keep_their_means(kind: str, shift: float) -> None:
    @settings(max_examples=100)
    @given(KINDS[kind](6), st.integers(0, 2**32))
    def check(order: lob.PartialOrder, seed: int) -> None:
        rng = np.random.default_rng(seed)
        values = rng.integers(-8, 9, size=6) / 4  # exact, also after the shift
        weights = rng.choice([1e-3, 1.0, 1e9], size=6)
        fit = lob.project(values + shift, weights, order) - shift
        expected = naive(values, weights, order.precedes)
        assert np.allclose(fit, expected, rtol=0, atol=1e-9 + 4e-16 * shift)

    check()


@every_kind
@pytest.mark.parametrize("unit", [0.1, 1e-15])
def test_the_order_is_kept_to_the_last_bit(kind: str, unit: float) -> None:
    @settings(max_examples=100)
    @given(KINDS[kind](9), st.integers(0, 2**32))
    def check(order: lob.PartialOrder, seed: int) -> None:
        rng = np.random.default_rng(seed)
        values = 1 + unit * rng.integers(0, 6, size=(200, 9))
        weights = rng.integers(0, 4, size=values.shape)
        fits = lob.project(values, weights, order)
        for a, b in np.argwhere(order.precedes):
            assert (fits[:, a] >= fits[:, b]).all()

    check()


def test_an_unplayed_arm_lies_between_its_neighbours() -> None:
    order = lob.PartialOrder.from_ranking([0, 1, 2])
    for value, expected in [(9.0, 3.0), (-9.0, 1.0), (2.5, 2.5)]:
        fit = lob.project([3.0, value, 1.0], [1.0, 0.0, 1.0], order)
        assert fit.tolist() == [3.0, expected, 1.0]


def test_an_unplayed_arm_binds_through_the_closure() -> None:
    order = lob.PartialOrder.from_ranking([0, 1, 2])
    assert lob.project([1.0, 7.0, 3.0], [1.0, 0.0, 1.0], order).tolist() == [2.0, 2.0, 2.0]


def test_an_unplayed_top_costs_nothing() -> None:
    order = lob.PartialOrder.from_relations(3, [(0, 1)])
    fit = lob.project([5.0, 1.0, 2.0], [1.0, 1.0, 0.0], order, top=2)
    assert fit.tolist() == [5.0, 1.0, 5.0]
    losses = lob.projection_losses(
        [5.0, 1.0, 2.0], [1.0, 1.0, 0.0], lob.LatentOrders.stack([order])
    )
    assert losses.tolist() == [[0.0, np.inf, 0.0]]


def test_nothing_played() -> None:
    order = lob.PartialOrder.from_ranking([1, 0])
    assert lob.project([1.0, 0.0], 0.0, order).tolist() == [0.0, 0.0]
    assert lob.projection_losses([1.0, 0.0], 0.0, lob.LatentOrders.stack([order]))[0, 1] == 0.0


def test_top_by_name_and_weights_that_broadcast() -> None:
    order = lob.PartialOrder.from_relations(2, [], arms=["a", "b"])
    fit = lob.project([[1.0, 3.0], [5.0, 0.0]], [1.0, 3.0], order, top="a")
    assert fit.tolist() == [[2.5, 2.5], [5.0, 0.0]]


def test_orders_per_user() -> None:
    rng = np.random.default_rng(0)
    users = [
        lob.LatentOrders.from_means(rng.normal(size=(4, 5))).reveal(q, rng)
        for q in (0.0, 0.5, 0.7, 0.8, 0.9, 1.0)
    ]
    values = rng.normal(size=(6, 5))
    losses = lob.projection_losses(values, 1.0, lob.UserOrders.stack(users))
    for u, orders in enumerate(users):
        assert (losses[u] == lob.projection_losses(values[u], 1.0, orders)).all()


ORDER: Any = lob.PartialOrder.from_ranking([0, 1])
FREE = lob.PartialOrder.from_relations(2, [])
BOTH: Any = lob.LatentOrders.stack([ORDER, FREE])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lob.project([1.0, np.nan], 1.0, ORDER), r"values\[1\] is nan"),
        (lambda: lob.project([np.inf, 0.0], 1.0, ORDER), r"values\[0\] is inf"),
        (lambda: lob.project([1.0, 0.0], [1.0, np.nan], ORDER), r"weights\[1\] is nan"),
        (lambda: lob.project([1.0, 0.0], [-1.0, 1.0], ORDER), r"weights\[0\] is -1.0"),
        (lambda: lob.project([1.0, 1e60], 1.0, ORDER), r"values\[1\] is 1e\+60; values must not"),
        (lambda: lob.project([1.0, 0.0], [1e60, 1.0], ORDER), r"weights\[0\] is 1e\+60; weights"),
        (lambda: lob.project([1.0, 0.0], [1e-60, 1.0], ORDER), r"weights must be 0 or at least"),
        (lambda: lob.project([1j, 0.0], 1.0, ORDER), r"values must be an array of numbers"),
        (lambda: lob.project([1.0, 0.0], 1.0, BOTH), r"order must be a PartialOrder"),
        (lambda: lob.projection_losses([1.0, 0.0], 1.0, ORDER), r"orders must be LatentOrders"),
        (lambda: lob.project([1.0, 0.0, 2.0], 1.0, ORDER), r"shape \(\.\.\., 2\), got \(3,\)"),
        (lambda: lob.project(1.0, 1.0, ORDER), r"shape \(\.\.\., 2\), got \(\)"),
        (lambda: lob.project([1.0, 0.0], [1.0] * 3, ORDER), r"do not fit"),
        (lambda: lob.project(["x", "y"], 1.0, ORDER), r"values must be an array of numbers"),
        (lambda: lob.project([1.0, 0.0], 1.0, ORDER, top=1), r"'1' cannot be on top: '0' is above"),
        (lambda: lob.project([1.0, 0.0], 1.0, ORDER, top=2), r"arm 2 is out of range"),
        (lambda: lob.project([1.0, 0.0], 1.0, ORDER, min_gap=-0.1), r"min_gap must not be"),
        (lambda: lob.project([1.0, 0.0], 1.0, FREE, min_gap=0.1), r"min_gap needs a total order"),
    ],
)
def test_bad_input_is_named(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(lob.LobInputError, match=words):
        call()
