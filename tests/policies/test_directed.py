"""The mixture of two arms, and the split of the variance by the arm on top."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.reference_ids import two_arms

from lobandits._checks import FloatArray
from lobandits.policies.directed import (
    add_hypothesis,
    clear,
    conclude,
    make_split,
    mix_two_arms,
)

pytestmark = pytest.mark.plain
amounts = st.one_of(st.just(0.0), st.floats(1e-6, 10), st.sampled_from([0.5, 1.0]))
arms = st.lists(st.tuples(amounts, amounts), min_size=1, max_size=6)


def mixture(regret: FloatArray, information: FloatArray) -> FloatArray:
    out = np.empty(len(regret))
    mix_two_arms(regret, information, out)
    return out


def ratio(chances: FloatArray, regret: FloatArray, information: FloatArray) -> float:
    cost, gain = chances @ regret, chances @ information
    return float(cost**2 / gain) if gain else float(cost > 0) * np.inf


@given(arms)
def test_no_other_mixture_has_a_lower_ratio(pairs: list[tuple[float, float]]) -> None:
    regret, information = np.array(pairs).T.copy()
    chances = mixture(regret, information)
    assert chances.min() >= 0
    np.testing.assert_allclose(chances.sum(), 1, rtol=1e-12)
    if regret.min() == 0:
        assert chances @ regret <= 1e-8 * regret.max()
    elif information.max() > 0:
        twin = np.array(two_arms(regret, information))
        mine = ratio(chances, regret, information)
        assert mine <= ratio(twin, regret, information) * (1 + 1e-6)
        for other in np.random.default_rng(0).dirichlet(np.full(len(regret), 0.3), 50):
            assert mine <= ratio(other, regret, information) * (1 + 1e-6)


def test_equal_arms_share() -> None:
    regret, information = np.array([1.0, 1.0, 5.0]), np.array([0.5, 0.5, 0.6])
    np.testing.assert_allclose(mixture(regret, information), [0.5, 0.5, 0.0])
    nothing = np.zeros(3)
    np.testing.assert_allclose(mixture(regret, nothing), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(mixture(nothing, nothing), [1 / 3] * 3)


def test_a_share_for_the_arm_that_tells_most() -> None:
    regret, information = np.array([0.2, 1.0]), np.array([0.01, 1.0])
    p = 0.2 / 0.8 - 2 * 0.01 / 0.99
    np.testing.assert_allclose(mixture(regret, information), [1 - p, p])


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 12))
def test_the_variance_splits_by_the_arm_on_top(seed: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    p, tops = rng.random(n) + 0.01, rng.integers(k, size=n)
    means, variances = rng.normal(size=(n, k)), rng.random((n, k))
    means[np.arange(n), tops] = means.max(axis=1)
    split = make_split(k)
    clear(split)
    for i in range(n):
        add_hypothesis(p[i], int(tops[i]), means[i], variances[i], split)
    conclude(0.5, split)
    p /= p.sum()
    overall = p @ means
    total = p @ ((means - overall) ** 2 + variances)
    mass = np.array([p[tops == a].sum() for a in range(k)])
    centres = [p[tops == a] @ means[tops == a] / mass[a] for a in range(k) if mass[a]]
    between = mass[mass > 0] @ (np.array(centres) - overall) ** 2
    expected = 0.5 * np.log1p(between / (0.5 + total - between))
    np.testing.assert_allclose(split.mass, mass, atol=1e-12)
    np.testing.assert_allclose(split.information, expected, atol=1e-9)
    regret = p @ (means[np.arange(n), tops, None] - means)
    np.testing.assert_allclose(split.regret, regret, atol=1e-12)
    if len(centres) == 1:
        assert split.regret[tops[0]] == 0
        assert not split.information.any()
