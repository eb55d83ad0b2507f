from fractions import Fraction
from itertools import permutations

import pytest

from lobandits import LobInputError
from lobandits.theory import similar_order_probability


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_similar_orders_are_counted_by_hand(k: int) -> None:
    orders = list(permutations(range(k)))
    pairs = [(p, r) for p in orders for r in orders if p != r]
    similar = sum(sum(a != b for a, b in zip(p, r, strict=True)) == 2 for p, r in pairs)
    assert similar_order_probability(k) == Fraction(similar, len(pairs))


def test_the_papers_example() -> None:
    assert similar_order_probability(10) == Fraction(45, 3_628_799)
    assert float(similar_order_probability(10)) == pytest.approx(1.24e-5, rel=1e-3)


def test_many_arms_neither_overflow_nor_round_to_zero() -> None:
    assert 0 < similar_order_probability(500) < Fraction(1, 10**1000)
    assert float(similar_order_probability(500)) == 0.0


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, True])
def test_refuses_what_has_no_two_orders(k: int) -> None:
    with pytest.raises(LobInputError, match="k must be"):
        similar_order_probability(k)
