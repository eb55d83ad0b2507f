from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.orders import naive

from lobandits.basics.checks import BoolArray
from lobandits.orders.closure import closure, find_cycle, paths, reduction

K = 6


def matrix(pairs: list[naive.Pair], k: int = K) -> BoolArray:
    edges = np.zeros((k, k), dtype=np.bool_)
    for a, b in pairs:
        edges[a, b] = True
    return edges


any_pairs = st.lists(st.tuples(st.integers(0, K - 1), st.integers(0, K - 1)), max_size=14)


@given(any_pairs)
def test_closure_is_that_of_the_naive_twin_even_with_cycles(pairs: list[naive.Pair]) -> None:
    assert naive.pairs_of(closure(matrix(pairs))) == naive.closure(pairs)


@given(naive.acyclic_pairs(K))
def test_reduction_is_that_of_the_naive_twin(pairs: list[naive.Pair]) -> None:
    above = closure(matrix(pairs))
    assert naive.pairs_of(reduction(above)) == naive.reduction(naive.closure(pairs))


@given(naive.acyclic_pairs(K))
def test_reduction_is_the_least_relation_with_this_closure(pairs: list[naive.Pair]) -> None:
    above = closure(matrix(pairs))
    direct = reduction(above)
    np.testing.assert_array_equal(closure(direct), above)
    for a, b in np.argwhere(direct):
        fewer = direct.copy()
        fewer[a, b] = False
        assert not np.array_equal(closure(fewer), above)


@given(st.lists(naive.acyclic_pairs(K), min_size=1, max_size=4))
def test_leading_axes_are_computed_one_by_one(states: list[list[naive.Pair]]) -> None:
    edges = np.stack([matrix(pairs) for pairs in states])
    above = closure(edges)
    np.testing.assert_array_equal(above, [closure(one) for one in edges])
    np.testing.assert_array_equal(reduction(above), [reduction(one) for one in above])


@given(any_pairs)
def test_a_cycle_is_found_if_and_only_if_there_is_one(pairs: list[naive.Pair]) -> None:
    cycle = find_cycle(matrix(pairs))
    if cycle is None:
        assert not any(a == b for a, b in naive.closure(pairs))
        return
    assert cycle[0] == cycle[-1]
    assert len(set(cycle[:-1])) == len(cycle) - 1
    assert set(pairwise(cycle)) <= set(pairs)


@pytest.mark.parametrize(
    ("pairs", "cycle"),
    [
        ([(0, 1), (1, 0)], [0, 1, 0]),
        ([(0, 1), (1, 2), (2, 0)], [0, 1, 2, 0]),
        ([(5, 3), (3, 4), (4, 5), (0, 5)], [3, 4, 5, 3]),
        ([(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 4)], [4, 5, 4]),
        ([(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)], [0, 1, 3, 0]),
        ([(2, 2)], [2, 2]),
    ],
)
def test_the_shortest_cycle_is_found(pairs: list[naive.Pair], cycle: list[int]) -> None:
    assert find_cycle(matrix(pairs)) == cycle


@given(naive.acyclic_pairs(K))
def test_paths_use_every_direct_relation_once(pairs: list[naive.Pair]) -> None:
    above = closure(matrix(pairs))
    steps = [step for path in paths(above) for step in pairwise(path)]
    assert len(steps) == len(set(steps))
    assert set(steps) == naive.pairs_of(reduction(above))


def test_a_chain_is_one_path() -> None:
    above = closure(matrix([(3, 1), (1, 4), (0, 2)]))
    assert paths(above) == [[0, 2], [3, 1, 4]]
