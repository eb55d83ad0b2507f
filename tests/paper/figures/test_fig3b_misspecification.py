import numpy as np
import pytest

from lobandits.paper.figures.fig3b_misspecification import violated_relations
from lobandits.paper.parts import RatingData


def test_violations_are_those_of_the_environment() -> None:
    ratings = RatingData()
    counts = violated_relations(ratings, n_states=10, alphas=(0.0, 0.3, 1.0), seed=0)
    for alpha, values in zip((0.0, 0.3, 1.0), counts.values(), strict=True):
        expected = ratings.environment(10, alpha=alpha).violations()
        assert np.mean(values) == pytest.approx(expected)
    assert counts["alpha = 0"].max() == 0
