"""The rule against brute force: moments of points, and the best mixture of two arms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.reference import moments, ratio, two_arms

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.rules.information_ratio import Moments, best_mixtures, exponents, moments_of


def mixture(
    regret: FloatArray,
    information: FloatArray,
    power: float = 2.0,
    allowed: BoolArray | None = None,
) -> FloatArray:
    none = np.zeros((1, len(regret)))
    some = np.ones(len(regret), np.bool_) if allowed is None else allowed
    given = Moments(none, none, regret[None], information[None])
    odds: FloatArray = best_mixtures(given, some[None], np.full(1, power))[0]
    return odds


amounts = st.one_of(st.just(0.0), st.floats(1e-6, 10), st.sampled_from([0.5, 1.0]))
arms = st.lists(st.tuples(amounts, amounts, st.booleans()), min_size=1, max_size=6)
powers = st.sampled_from([1.4, 2.0, 2.7, 6.0])


@pytest.mark.plain
@given(arms.filter(lambda rows: any(row[2] for row in rows)), powers)
def test_no_other_mixture_of_allowed_arms_has_a_lower_ratio(
    rows: list[tuple[float, float, bool]], power: float
) -> None:
    regret, information, may = (np.array(column) for column in zip(*rows, strict=True))
    chances = mixture(regret, information, power, may)
    assert chances.min() >= 0
    assert not chances[~may].any()
    np.testing.assert_allclose(chances.sum(), 1, rtol=1e-12)
    if regret[may].min() == 0:
        assert chances @ regret <= 1e-8 * regret[may].max()
    elif information[may].max() > 0:
        mine = ratio(chances, regret, information, power)
        twin = np.array(two_arms(regret, information, power, may))
        assert mine <= ratio(twin, regret, information, power) * (1 + 1e-6)
        for other in np.random.default_rng(0).dirichlet(np.full(may.sum(), 0.3), 50):
            all_arms = np.zeros(len(may))
            all_arms[may] = other
            assert mine <= ratio(all_arms, regret, information, power) * (1 + 1e-6)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 7), powers)
def test_no_share_on_a_fine_grid_is_better(seed: int, k: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    regret, information = rng.uniform(0.01, 2.0, k), rng.uniform(0.0, 1.0, k)
    mine = ratio(mixture(regret, information, power), regret, information, power)
    p = np.linspace(0.0, 1.0, 501)[:, None, None]
    cost = p * regret[:, None] + (1 - p) * regret
    gain = p * information[:, None] + (1 - p) * information
    least = float((cost**power / gain).min())
    assert mine <= least * (1 + 1e-9)
    assert mine == pytest.approx(least, rel=0.01)


@pytest.mark.plain
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 7), powers)
def test_chances_are_those_of_the_twin(seed: int, k: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    regret, information = rng.uniform(0.01, 2.0, k), rng.uniform(0.0, 1.0, k)
    allowed = rng.random(k) < 0.7
    allowed[seed % k] = True
    chances = mixture(regret, information, power, allowed)
    wanted = two_arms(regret, information, power, allowed)
    np.testing.assert_allclose(chances, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.plain
def test_dominated_arms_are_never_played() -> None:
    regret = np.array([0.2, 1.0, 0.3, 1.1])
    information = np.array([0.01, 1.0, 0.01, 0.9])
    chances = mixture(regret, information)
    assert chances[[2, 3]].tolist() == [0.0, 0.0]
    assert chances[[0, 1]].min() > 0


@pytest.mark.plain
def test_equal_arms_share() -> None:
    regret, information = np.array([1.0, 1.0, 5.0]), np.array([0.5, 0.5, 0.6])
    np.testing.assert_allclose(mixture(regret, information), [0.5, 0.5, 0.0])
    nothing = np.zeros(3)
    np.testing.assert_allclose(mixture(regret, nothing), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(mixture(nothing, nothing), [1 / 3] * 3)
    regret, information = np.array([0.2, 1.0, 1.0, 0.2]), np.array([0.01, 1.0, 1.0, 0.01])
    chances = mixture(regret, information)
    assert chances[0] == chances[3]
    assert chances[1] == chances[2] > 0
    without = mixture(regret, information, allowed=np.array([True, True, True, False]))
    np.testing.assert_allclose(without[0], chances[0] + chances[3])


@pytest.mark.plain
def test_an_arm_without_regret_is_played_at_once() -> None:
    chances = mixture(np.array([0.0, 0.1, 0.0]), np.array([0.0, 9.0, 0.3]))
    assert chances.tolist() == [0.0, 0.0, 1.0]
    chances = mixture(np.array([0.0, 0.1]), np.array([1.0, 9.0]), allowed=np.array([False, True]))
    assert chances.tolist() == [0.0, 1.0]


@pytest.mark.plain
def test_a_share_for_the_arm_that_tells_most() -> None:
    regret, information = np.array([0.2, 1.0]), np.array([0.01, 1.0])
    p = 0.2 / 0.8 - 2 * 0.01 / 0.99
    np.testing.assert_allclose(mixture(regret, information), [1 - p, p])
    p = (0.2 / 0.8 - 4 * 0.01 / 0.99) / 3
    np.testing.assert_allclose(mixture(regret, information, 4.0), [1 - p, p])


@pytest.mark.parametrize("unit", [1e-150, 1e-9, 1e9, 1e100])
def test_units_change_nothing(unit: float) -> None:
    rng = np.random.default_rng(0)
    regret, information = rng.uniform(0.01, 2.0, 5), rng.uniform(0.0, 1.0, 5)
    wanted = mixture(regret, information, 6.0)
    np.testing.assert_allclose(mixture(unit * regret, information, 6.0), wanted, atol=1e-9)
    np.testing.assert_allclose(mixture(regret, unit * information, 6.0), wanted, atol=1e-9)


def test_every_user_has_a_mixture_of_their_own() -> None:
    rng = np.random.default_rng(1)
    regret, information = rng.uniform(0.01, 2.0, (6, 5)), rng.uniform(0.0, 1.0, (6, 5))
    power, allowed = rng.uniform(1.4, 6.0, 6), rng.random((6, 5)) < 0.7
    allowed[:, 0] = True
    given = Moments(regret, regret, regret, information)
    together = best_mixtures(given, allowed, power)
    for u in range(6):
        alone = mixture(regret[u], information[u], power[u], allowed[u])
        np.testing.assert_array_equal(together[u], alone)
    one_set = best_mixtures(given, allowed[:1], power)
    np.testing.assert_array_equal(
        one_set, best_mixtures(given, np.repeat(allowed[:1], 6, axis=0), power)
    )


@pytest.mark.plain
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 20))
def test_moments_are_those_of_the_twin(seed: int, k: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    points, top = rng.normal(size=(3, k, p)), rng.integers(k, size=(3, p))
    noise = rng.uniform(0.5, 2.0, (3, k))
    found = moments_of(points, top, noise)
    for u in range(3):
        share, regret, between = moments(points[u].T, top[u].tolist())
        np.testing.assert_allclose(found.on_top[u], share, atol=1e-12)
        np.testing.assert_allclose(found.regret[u], regret, atol=1e-12)
        np.testing.assert_allclose(found.information[u], between / noise[u], atol=1e-12)
        np.testing.assert_allclose(found.mean[u], points[u].mean(axis=1), atol=1e-12)


@pytest.mark.plain
def test_an_arm_on_top_of_every_point_has_no_regret_and_tells_nothing() -> None:
    points = np.random.default_rng(2).normal(size=(1, 3, 8))
    points[0, 1] += 100.0
    found = moments_of(points, np.ones((1, 8), np.int64), np.ones((1, 3)))
    assert found.regret[0, 1] == 0.0
    np.testing.assert_allclose(found.information, 0.0, atol=1e-25)


def test_regret_weighs_most_while_the_prior_knows_more_than_the_plays() -> None:
    power = exponents(np.array([0.0, 16.0, 1e9]), doubt=1.0, worth=4.0)
    np.testing.assert_allclose(power, [6.0, 4.0, 2.0])
    np.testing.assert_allclose(exponents(np.array([0.0, 1e9]), 0.0, 5.0), 1.4)
    rare = exponents(np.array([0.0, 400.0, 1e9]), doubt=1.0, worth=100.0)
    np.testing.assert_allclose(rare, [22.0, 12.0, 2.0], atol=1e-4)
    half = exponents(np.array([0.0]), doubt=0.5, worth=4.0)
    np.testing.assert_allclose(half, 1.4 + 0.5 * 4.6)
