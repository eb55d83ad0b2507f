import numpy as np
import pytest
from scipy.stats import ttest_rel

from lobandits.experiments.claims import Estimate, estimate, exactly, share


def test_intervals_are_those_of_the_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(1, 1, 40), rng.normal(0, 1, 40)
    expected = ttest_rel(one, other).confidence_interval(0.9)
    assert estimate("d", one - other).interval(0.9) == pytest.approx(tuple(expected))


def test_one_user_leaves_all_open_and_an_exact_number_nothing() -> None:
    assert Estimate("one", 5.0, float("nan"), 1).interval() == (-np.inf, np.inf)
    assert exactly("number", 5.0).interval() == (5.0, 5.0)


def test_a_share_counts_two_hits_and_two_misses_more() -> None:
    found = share("trials", [1.0] * 6 + [0.0] * 2, above=0.5)
    assert (found.mean, found.n) == (0.25, 8)
    assert found.error == pytest.approx(np.sqrt(8 / 12 * 4 / 12 / 12))
