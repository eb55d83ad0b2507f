"""Plain twins of what `lobandits.orders` computes, to be checked by eye, and random orders."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

Pair = tuple[int, int]


def closure(pairs: Iterable[Pair]) -> set[Pair]:
    """Add implied pairs until there are none left."""
    above = set(pairs)
    while True:
        implied = {(a, d) for a, b in above for c, d in above if b == c} - above
        if not implied:
            return above
        above |= implied


def reduction(above: set[Pair]) -> set[Pair]:
    """Keep the pairs with no arm between them."""
    return {
        (a, c) for a, c in above if not any((a, b) in above and (b, c) in above for b in range(100))
    }


def kendall_distance(first: set[Pair], second: set[Pair]) -> int:
    return sum((b, a) in second for a, b in first)


def kind(direct: set[Pair], k: int) -> int:
    """0 total, 1 chains, 2 none of these."""
    uppers = [sum(b == arm for _, b in direct) for arm in range(k)]
    lowers = [sum(a == arm for a, _ in direct) for arm in range(k)]
    if max(uppers) > 1 or max(lowers) > 1:
        return 2
    return 0 if uppers.count(0) == 1 else 1


def pairs_of(matrix: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> set[Pair]:
    return {(int(a), int(b)) for a, b in np.argwhere(matrix)}


@st.composite
def acyclic_pairs(draw: DrawFn, k: int) -> list[Pair]:
    """Some pairs along a random ranking: every acyclic relation is one of these."""
    ranking = draw(st.permutations(range(k)))
    pairs = [(ranking[i], ranking[j]) for i in range(k) for j in range(i + 1, k)]
    return draw(st.lists(st.sampled_from(pairs), unique=True, max_size=12)) if pairs else []


@st.composite
def states_of_pairs(draw: DrawFn, most_arms: int = 6) -> tuple[int, list[list[Pair]]]:
    """The number of arms, and each state's pairs."""
    k = draw(st.integers(1, most_arms))
    return k, draw(st.lists(acyclic_pairs(k), min_size=1, max_size=4))


@st.composite
def forest_pairs(draw: DrawFn, k: int) -> list[Pair]:
    """Each arm below at most one arm that comes before it in a random ranking."""
    ranking = draw(st.permutations(range(k)))
    parents = [draw(st.integers(-1, i - 1)) for i in range(k)]
    return [(ranking[p], ranking[i]) for i, p in enumerate(parents) if p >= 0]


@st.composite
def chain_pairs(draw: DrawFn, k: int) -> list[Pair]:
    """Some of the consecutive pairs of a random ranking."""
    ranking = draw(st.permutations(range(k)))
    return [(a, b) for a, b in pairwise(ranking) if draw(st.booleans())]
