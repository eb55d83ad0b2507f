"""Hypothesis strategies for orders, means and weights."""

import numpy as np
from hypothesis import strategies as st

from lobandits import PartialOrder
from lobandits.basics.checks import FloatArray

numbers = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3))
positive_weights = st.one_of(st.integers(1, 50).map(float), st.floats(0.01, 100))
any_weights = st.one_of(st.just(0.0), positive_weights)


@st.composite
def total_orders(draw: st.DrawFn, k: int) -> PartialOrder:
    return PartialOrder.from_ranking(draw(st.permutations(range(k))))


@st.composite
def chain_orders(draw: st.DrawFn, k: int) -> PartialOrder:
    """Disjoint chains: a ranking with some of its links cut."""
    arms = draw(st.permutations(range(k)))
    kept = draw(st.lists(st.booleans(), min_size=k - 1, max_size=k - 1))
    links = [(arms[j], arms[j + 1]) for j in range(k - 1) if kept[j]]
    return PartialOrder.from_relations(k, links)


@st.composite
def forest_orders(draw: st.DrawFn, k: int) -> PartialOrder:
    """Each arm hangs from one earlier arm, or from none."""
    arms = draw(st.permutations(range(k)))
    parents = [draw(st.integers(-1, j - 1)) for j in range(k)]
    return PartialOrder.from_relations(
        k, [(arms[p], arms[j]) for j, p in enumerate(parents) if p >= 0]
    )


@st.composite
def dag_orders(draw: st.DrawFn, k: int) -> PartialOrder:
    arms = draw(st.permutations(range(k)))
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    kept = draw(st.lists(st.integers(0, 3), min_size=len(pairs), max_size=len(pairs)))
    return PartialOrder.from_relations(
        k, [(arms[i], arms[j]) for (i, j), keep in zip(pairs, kept, strict=True) if keep == 0]
    )


KINDS = {
    "total": total_orders,
    "chains": chain_orders,
    "forest": forest_orders,
    "dag": dag_orders,
}


@st.composite
def cases(
    draw: st.DrawFn, kind: str, zero_weights: bool = True, most: int = 9
) -> tuple[FloatArray, FloatArray, PartialOrder]:
    """Values, weights and an order of the given kind."""
    k = draw(st.integers(1, most))
    order = draw(KINDS[kind](k))
    values = draw(st.lists(numbers, min_size=k, max_size=k))
    one = any_weights if zero_weights else positive_weights
    weights = draw(st.lists(one, min_size=k, max_size=k))
    return np.array(values), np.array(weights), order
