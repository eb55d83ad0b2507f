from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.orders import naive

from lobandits import PartialOrder
from lobandits._checks import BoolArray
from lobandits.orders import CHAINS, DAG, FOREST, TOTAL, LatentOrders, OrderTables
from lobandits.orders.tables import by_arm, closure, find_cycle, keep_links, paths, reduction

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


def test_the_links_with_the_least_noise_are_kept() -> None:
    noise = np.array([[0.9, 0.1, 0.5, 0.3], [0.2, 0.8, 0.7, 0.1]])
    np.testing.assert_array_equal(
        keep_links(noise, 0.5),
        [[False, False, True, False, True], [False, True, False, False, True]],
    )


@pytest.mark.parametrize("links", range(16))
def test_the_number_kept_is_exact(links: int) -> None:
    noise = np.random.default_rng(0).random((3, links))
    for count in range(links + 1):
        kept = keep_links(noise, count / max(links, 1)).sum(axis=-1)
        np.testing.assert_array_equal(kept, count)


def test_a_share_that_floating_point_rounds_up() -> None:
    assert 0.28 * 25 > 7
    assert keep_links(np.random.default_rng(0).random(25), 0.28).sum() == 7


def test_by_arm_inverts_a_sequence() -> None:
    sequence = np.array([[2, 0, 1], [1, 2, 0]], dtype=np.uint32)
    values = np.array([[10, 20, 30], [40, 50, 60]])
    np.testing.assert_array_equal(by_arm(sequence, values), [[20, 30, 10], [60, 40, 50]])


def tables_of(k: int, pairs: list[naive.Pair]) -> OrderTables:
    return LatentOrders.stack([PartialOrder.from_relations(k, pairs)]).tables


def check_one_state(k: int, pairs: list[naive.Pair]) -> OrderTables:
    """Compare every table of one state with the naive twin."""
    tables = tables_of(k, pairs)
    above = naive.closure(pairs)
    direct = naive.reduction(above)
    kind = naive.kind(direct, k)
    assert tables.kind.tolist() == [[kind]]
    for arm in range(k):
        uppers = [a for a, b in direct if b == arm]
        expected = -1 if not uppers else uppers[0] if len(uppers) == 1 else -2
        assert tables.parent[0, 0, arm] == expected
        assert tables.maximal[0, 0, arm] == (not uppers)
    sequence = tables.sequence[0, 0].tolist()
    assert sorted(sequence) == list(range(k))
    assert all(sequence.index(a) < sequence.index(b) for a, b in above)
    links = {(sequence[j - 1], sequence[j]) for j in np.flatnonzero(tables.linked[0, 0])}
    assert links == (direct if kind in (TOTAL, CHAINS) else set())
    if kind == DAG:
        assert naive.pairs_of(tables.above[0, 0]) == above
    else:
        assert tables.above.shape == (1, 0, 0, 0)
    return tables


@given(naive.acyclic_pairs(6))
def test_any_order(pairs: list[naive.Pair]) -> None:
    check_one_state(6, pairs)


@given(naive.chain_pairs(7))
def test_chains(pairs: list[naive.Pair]) -> None:
    tables = check_one_state(7, pairs)
    assert tables.kind[0, 0] in (TOTAL, CHAINS)
    heads = tables.sequence[0, 0][~tables.linked[0, 0]]
    assert (np.diff(heads.astype(int)) > 0).all()


@given(naive.forest_pairs(7))
def test_forests(pairs: list[naive.Pair]) -> None:
    assert check_one_state(7, pairs).kind[0, 0] in (TOTAL, CHAINS, FOREST)


@given(st.permutations(range(6)))
def test_a_total_order_is_its_ranking(ranking: list[int]) -> None:
    tables = LatentOrders.from_rankings([ranking]).tables
    assert tables.sequence[0, 0].tolist() == ranking
    assert tables.linked[0, 0].tolist() == [False] + [True] * 5


@pytest.mark.parametrize(
    ("pairs", "kind"),
    [
        ([], CHAINS),
        ([(0, 1), (2, 3)], CHAINS),
        ([(0, 1), (1, 2), (0, 2), (2, 3)], TOTAL),
        ([(0, 1), (0, 2)], FOREST),
        ([(1, 0), (2, 0)], DAG),
        ([(0, 1), (0, 2), (1, 3), (2, 3)], DAG),
    ],
)
def test_kinds(pairs: list[naive.Pair], kind: int) -> None:
    assert tables_of(4, pairs).kind[0, 0] == kind


def test_one_dag_brings_the_closures_of_all_states() -> None:
    orders = LatentOrders.from_relations(3, [[(0, 1), (1, 2)], [(0, 2), (1, 2)], [(0, 1), (0, 2)]])
    assert orders.tables.kind.tolist() == [[TOTAL, DAG, FOREST]]
    np.testing.assert_array_equal(orders.tables.above[0], orders.precedes)
    np.testing.assert_array_equal(orders.tables.parent[0], [[-1, 0, 1], [-1, -1, -2], [-1, 0, 0]])


def test_types_and_layout() -> None:
    orders = LatentOrders.from_relations(3, [[(0, 1)], [(0, 2), (1, 2)]])
    types = [np.uint32, np.bool_, np.int32, np.int8, np.bool_, np.bool_]
    tables: list[Any] = list(orders.tables)
    for table, kind in zip(tables, types, strict=True):
        assert table.dtype == kind
        assert table.flags.c_contiguous
        assert not table.flags.writeable
        assert len(table) == 1
