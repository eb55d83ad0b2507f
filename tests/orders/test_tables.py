from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.orders import naive

from lobandits import PartialOrder
from lobandits.orders import CHAINS, DAG, TOTAL, LatentOrders, OrderTables


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
    assert check_one_state(7, pairs).kind[0, 0] in (TOTAL, CHAINS, DAG)


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
        ([(0, 1), (0, 2)], DAG),
        ([(1, 0), (2, 0)], DAG),
        ([(0, 1), (0, 2), (1, 3), (2, 3)], DAG),
    ],
)
def test_kinds(pairs: list[naive.Pair], kind: int) -> None:
    assert tables_of(4, pairs).kind[0, 0] == kind


def test_one_dag_brings_the_closures_of_all_states() -> None:
    orders = LatentOrders.from_relations(3, [[(0, 1), (1, 2)], [(0, 2), (1, 2)], [(0, 1), (0, 2)]])
    assert orders.tables.kind.tolist() == [[TOTAL, DAG, DAG]]
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
