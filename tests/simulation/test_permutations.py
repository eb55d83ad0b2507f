from collections import Counter
from itertools import permutations
from math import factorial

import numpy as np
import pytest

from lobandits.errors import LobInputError
from lobandits.simulation.permutations import (
    check_enough,
    distinct_permutations,
    repeats,
    unrank,
)


@pytest.mark.parametrize("n_arms", [1, 2, 3, 4, 5])
def test_unrank_lists_all_permutations_in_order(n_arms: int) -> None:
    numbers = np.arange(factorial(n_arms))
    assert unrank(numbers, n_arms).tolist() == [list(p) for p in permutations(range(n_arms))]


@pytest.mark.parametrize(
    ("n_states", "n_arms"), [(6, 3), (5, 3), (2, 3), (24, 4), (1, 1), (15, 15)]
)
def test_permutations_are_distinct_for_each_user(n_states: int, n_arms: int) -> None:
    drawn = distinct_permutations(np.random.default_rng(0), 8, n_states, n_arms)
    assert drawn.shape == (8, n_states, n_arms)
    assert (np.sort(drawn, axis=-1) == np.arange(n_arms)).all()
    for rows in drawn:
        assert len({tuple(row) for row in rows}) == n_states


@pytest.mark.parametrize("n_states", [1, 4])
def test_each_permutation_is_equally_likely(n_states: int) -> None:
    """n_states = 1 draws again what came twice, 4 shuffles all of them."""
    rng = np.random.default_rng(1)
    drawn = np.concatenate([distinct_permutations(rng, 8, n_states, 3)[:, -1] for _ in range(1500)])
    counts = Counter(map(tuple, drawn.tolist()))
    assert len(counts) == 6
    assert all(abs(count - 2000) < 200 for count in counts.values())


def test_redrawing_leaves_pairs_uniform() -> None:
    rng = np.random.default_rng(2)
    drawn = np.concatenate([distinct_permutations(rng, 8, 5, 4) for _ in range(600)])
    last = Counter(map(tuple, drawn[:, -1].tolist()))
    assert len(last) == 24
    assert all(abs(count - 200) < 80 for count in last.values())


def test_repeats_marks_all_but_the_first() -> None:
    drawn = np.array([[[0, 1, 2], [2, 1, 0], [0, 1, 2], [0, 1, 2]], [[0, 1, 2]] * 4])
    assert repeats(drawn).tolist() == [[False, False, True, True], [False, True, True, True]]


def test_more_states_than_orders_are_refused() -> None:
    check_enough(6, 3)
    check_enough(10**9, 30)
    with pytest.raises(LobInputError, match="3 arms have only 6 orders, but n_states is 7"):
        check_enough(7, 3)
