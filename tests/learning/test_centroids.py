"""Borda's centres against plain loops, and what they must never do."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.learning import naive
from tests.learning.planted import planted

from lobandits.learning.centroids import BordaCentroid, borda_scores
from lobandits.learning.kendall import pair_signs
from lobandits.learning.kmeans import assign
from lobandits.learning.table import impute


def test_borda_scores_equal_their_twin() -> None:
    means, _, _ = planted(12, 5, 2, noise=2.0, missing=0.3, seed=3)
    means = means.round(0)
    users, labels = pair_signs(means), np.arange(len(means)) % 2
    centroid = BordaCentroid(borda_scores(impute(means)[0]), users, ~np.isnan(means))
    for s in (0, 1):
        members = np.flatnonzero(labels == s)
        scores = np.array(naive.borda(means, members.tolist()))
        worst = -scores
        updated = centroid.update(labels, np.stack([worst, worst]))
        np.testing.assert_allclose(updated[s], scores, atol=1e-12)


@given(
    hnp.arrays(np.float64, (14, 5), elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, np.nan])),
    st.integers(1, 4),
    st.integers(0, 99),
)
def test_borda_never_raises_the_objective(means: Any, m: int, seed: int) -> None:
    means[:, :2] = np.where(np.isnan(means[:, :2]), 2.5, means[:, :2])
    means[0] = np.where(np.isnan(means[0]), 2.5, means[0])
    users = pair_signs(means)
    centroid = BordaCentroid(borda_scores(impute(means)[0]), users, ~np.isnan(means))
    current = assign(users, centroid.values[np.random.default_rng(seed).permutation(14)[:m]], 0)
    for step in range(6):
        centers = centroid.update(current.labels, current.centers)
        centers = np.where(np.isnan(centers), centroid.values[:1], centers)
        following = assign(users, centers, step)
        assert following.inertia <= current.inertia + 1e-12
        current = following
