from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from lobandits import LobInputError
from lobandits.theory import samples_for_exact_orders, similar_order_probability


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


@pytest.mark.parametrize(("constant", "factor"), [("corrected", 8), ("printed", 2)])
def test_sample_size_is_the_formula(constant: str, factor: int) -> None:
    exact = factor * 1.5**2 / 0.2**2 * np.log(2 * 7 * 40 / 0.05)
    n = samples_for_exact_orders(1.5, 0.2, n_arms=7, n_users=40, delta=0.05, constant=constant)
    assert n == int(np.ceil(exact))


def test_corrected_is_the_default_and_four_times_the_printed() -> None:
    arguments = (1.0, 0.1, 19, 1000, 0.01)
    corrected = samples_for_exact_orders(*arguments)
    assert corrected == samples_for_exact_orders(*arguments, constant="corrected")
    assert corrected == pytest.approx(
        4 * samples_for_exact_orders(*arguments, constant="printed"), 1e-3
    )


def test_the_corrected_size_gives_exact_orders() -> None:
    """Two arms one gap apart: the share of wrong orders stays below delta, printed may not."""
    rng = np.random.default_rng(0)
    gap, delta, users = 1.0, 0.5, 20_000
    wrong = {}
    for constant in ("corrected", "printed"):
        n = samples_for_exact_orders(1.0, gap, 2, 1, delta, constant=constant)
        means = rng.normal([gap, 0.0], 1 / np.sqrt(n), (users, 2))
        wrong[constant] = (means[:, 0] < means[:, 1]).mean()
    assert wrong["corrected"] < delta / 10
    assert wrong["corrected"] < wrong["printed"]


def test_at_least_one_sample_is_needed() -> None:
    assert samples_for_exact_orders(1e-300, 1e300, 2, 2, 0.5) == 1


def test_huge_numbers_of_users_do_not_overflow() -> None:
    assert samples_for_exact_orders(1.0, 1.0, 10, 10**400, 1e-300) > 1000


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"sigma": 0.0}, "sigma"),
        ({"gap": -1.0}, "gap"),
        ({"gap": float("nan")}, "gap"),
        ({"n_arms": 0}, "n_arms"),
        ({"n_users": 1.5}, "n_users"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"constant": "print"}, "did you mean 'printed'"),
        ({"sigma": 1e200, "gap": 1e-200}, "finite"),
    ],
)
def test_refuses_with_a_word(change: dict[str, object], word: str) -> None:
    arguments: dict[str, object] = {
        "sigma": 1.0,
        "gap": 0.1,
        "n_arms": 3,
        "n_users": 5,
        "delta": 0.1,
    }
    with pytest.raises(LobInputError, match=word):
        samples_for_exact_orders(**{**arguments, **change})  # type: ignore[arg-type]
