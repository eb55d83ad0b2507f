import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lobandits.policies.hypotheses import TopMoments, add_hypothesis, clear, conclude


@pytest.mark.plain
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 12))
def test_the_variance_splits_by_the_arm_on_top(seed: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    p, tops = rng.random(n) + 0.01, rng.integers(k, size=n)
    means, variances = rng.normal(size=(n, k)), rng.random((n, k))
    means[np.arange(n), tops] = means.max(axis=1)
    rows = np.empty((5, k))
    split = TopMoments(rows[0], np.empty((k, k)), *rows[1:])
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
