"""Relations that members support, against plain loops and scipy's test."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binomtest

import lobandits as lob
from lobandits.learning.confidence import confident_relations, holm


def naive_relations(means: Any, ranking: list[int], level: float) -> set[tuple[int, int]]:
    """Test every pair of one state by scipy, smallest p first, then add what follows."""
    tests = []
    for above, below in combinations(ranking, 2):
        signs = [np.sign(row[above] - row[below]) for row in means]
        wins, losses = signs.count(1.0), signs.count(-1.0)
        trials = wins + losses
        p = binomtest(wins, trials, alternative="greater").pvalue if trials else 1.0
        tests.append((p, above, below))
    kept: set[tuple[int, int]] = set()
    for i, (p, above, below) in enumerate(sorted(tests)):
        if p > level / (len(tests) - i):
            break
        kept.add((above, below))
    while more := {(a, d) for a, b in kept for c, d in kept if b == c} - kept:
        kept |= more
    return kept


@pytest.mark.parametrize("seed", range(6))
def test_relations_equal_their_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rankings = [rng.permutation(5) for _ in range(2)]
    labels = rng.integers(2, size=80)
    means = (4 - np.argsort(rankings, axis=1))[labels] + rng.normal(0, 3, (80, 5))
    means = means.round(0)
    means[rng.random(means.shape) < 0.2] = np.nan
    orders = lob.LatentOrders.from_rankings([r.tolist() for r in rankings])
    kept = confident_relations(means, labels, orders.precedes, 0.05)
    for s in (0, 1):
        expected = naive_relations(means[labels == s], rankings[s].tolist(), 0.05)
        assert {(int(a), int(b)) for a, b in np.argwhere(kept[s])} == expected
    assert 0 < kept.sum() < orders.precedes.sum()


@given(
    hnp.arrays(np.float64, (12, 4), elements=st.sampled_from([1.0, 2.0, 3.0, np.nan])),
    st.floats(0.001, 0.9),
)
def test_relations_are_a_closed_part_of_the_order(means: Any, level: float) -> None:
    orders = lob.LatentOrders.from_rankings([[2, 0, 1, 3]])
    kept = confident_relations(means, np.zeros(12, dtype=np.int64), orders.precedes, level)
    assert not (kept & ~orders.precedes).any()
    np.testing.assert_array_equal(lob.LatentOrders(kept).precedes, kept)


def test_holm_stops_at_the_first_that_holds() -> None:
    p = np.array([0.001, 0.2, 0.02, 0.013])
    assert holm(p, 0.05).tolist() == [True, False, True, True]
    assert holm(np.array([0.03, 0.04]), 0.05).tolist() == [False, False]


def test_members_who_agree_give_the_total_order_and_noise_gives_none() -> None:
    rng = np.random.default_rng(0)
    orders = lob.LatentOrders.from_rankings([[0, 1, 2, 3]])
    everyone = np.zeros(60, dtype=np.int64)
    clear = np.arange(4.0)[::-1] + rng.normal(0, 0.05, (60, 4))
    np.testing.assert_array_equal(
        confident_relations(clear, everyone, orders.precedes, 0.05), orders.precedes
    )
    false = [
        confident_relations(rng.normal(size=(60, 4)), everyone, orders.precedes, 0.05).any()
        for _ in range(400)
    ]
    assert np.mean(false) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)
