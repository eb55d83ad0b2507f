import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.orders import naive

from lobandits import LobInputError, PartialOrder

GENRES = ["comedy", "drama", "horror", "western"]


def pickled(order: PartialOrder) -> Any:
    return pickle.loads(pickle.dumps(order))


def test_a_ranking_is_a_total_order() -> None:
    order = PartialOrder.from_ranking([2, 0, 1])
    assert order.is_total
    assert order.ranking == (2, 0, 1)
    assert order.relations == ((0, 1), (2, 0))
    assert order.arms == ("0", "1", "2")
    np.testing.assert_array_equal(order.maximal, [False, False, True])
    np.testing.assert_array_equal(
        order.precedes, [[False, True, False], [False, False, False], [True, True, False]]
    )


def test_names_and_numbers_mean_the_same() -> None:
    named = PartialOrder.from_ranking(["drama", "comedy", "western", "horror"], arms=GENRES)
    assert named == PartialOrder.from_ranking(np.array([1, 0, 3, 2]), arms=GENRES)
    some = PartialOrder.from_relations(4, [("drama", 0), (np.int32(2), "western")], arms=GENRES)
    assert some.relations == ((1, 0), (2, 3))


def test_implied_relations_are_in_precedes_and_not_in_relations() -> None:
    order = PartialOrder.from_relations(4, [(0, 1), (1, 2), (0, 2)])
    assert order.precedes[0, 2]
    assert order.relations == ((0, 1), (1, 2))
    np.testing.assert_array_equal(order.maximal, [True, False, False, True])
    assert not order.is_total


def test_tied_means_are_incomparable() -> None:
    order = PartialOrder.from_means([0.5, 2.0, 0.5, 1.0])
    assert order.relations == ((1, 3), (3, 0), (3, 2))
    assert not order.is_total
    assert PartialOrder.from_means([0.5, 2.0, 1.0]).ranking == (1, 2, 0)


def test_the_constructor_closes_the_relations() -> None:
    edges = [[False, True, False], [False, False, True], [False, False, False]]
    assert PartialOrder(edges) == PartialOrder.from_ranking([0, 1, 2])


@given(naive.acyclic_pairs(6), naive.acyclic_pairs(6))
def test_everything_agrees_with_the_naive_twin(
    first: list[naive.Pair], second: list[naive.Pair]
) -> None:
    order, other = (PartialOrder.from_relations(6, pairs) for pairs in (first, second))
    above, others = naive.closure(first), naive.closure(second)
    assert naive.pairs_of(order.precedes) == above
    assert set(order.relations) == naive.reduction(above)
    assert order.maximal.tolist() == [not any(b == a for _, b in above) for a in range(6)]
    assert order.is_total == (len(above) == 15)
    assert order.kendall_distance(other) == naive.kendall_distance(above, others)
    assert (order == other) == (above == others)
    assert order == PartialOrder.from_relations(6, order.relations)
    if above == others:
        assert hash(order) == hash(other)


def test_equality_needs_the_same_arms() -> None:
    assert PartialOrder.from_ranking([0, 1]) != PartialOrder.from_ranking([0, 1], arms=["a", "b"])
    assert PartialOrder.from_ranking([0, 1]) != "0 > 1"
    assert len({PartialOrder.from_ranking([0, 1]), PartialOrder.from_relations(2, [(0, 1)])}) == 1


@pytest.mark.parametrize(
    ("relations", "text"),
    [
        ([("drama", "comedy"), ("comedy", "horror")], "drama > comedy > horror; western free"),
        ([(1, 0), (0, 2), (2, 3)], "drama > comedy > horror > western"),
        ([(0, 1), (2, 3)], "comedy > drama; horror > western"),
        ([(0, 1), (0, 2), (1, 3), (2, 3)], "comedy > drama > western; comedy > horror > western"),
        ([(3, 1)], "western > drama; comedy, horror free"),
        ([], "comedy, drama, horror, western free"),
    ],
)
def test_printed_form(relations: list[Any], text: str) -> None:
    order = PartialOrder.from_relations(4, relations, arms=GENRES)
    assert str(order) == text
    assert repr(order) == f"PartialOrder({text})"


def test_one_arm_alone_is_a_total_order() -> None:
    order = PartialOrder.from_ranking([0], arms=["only"])
    assert order.is_total
    assert str(order) == "only"
    assert order.relations == ()


def test_a_partial_order_has_no_ranking() -> None:
    order = PartialOrder.from_relations(3, [(0, 1)])
    with pytest.raises(LobInputError, match=r"only a total order has a ranking.*0 > 1; 2 free"):
        _ = order.ranking


def test_distance_needs_the_same_arms() -> None:
    order = PartialOrder.from_ranking([0, 1])
    with pytest.raises(LobInputError, match="different arms"):
        order.kendall_distance(PartialOrder.from_ranking([0, 1], arms=["a", "b"]))


def test_nothing_can_be_changed() -> None:
    order = PartialOrder.from_ranking([0, 1])
    for array in (order.precedes, order.maximal):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = True
    with pytest.raises(AttributeError, match="cannot assign to field 'arms'"):
        order.arms = ("a", "b")  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot delete field 'arms'"):
        del order.arms


def test_the_input_array_stays_the_callers_own() -> None:
    edges = np.zeros((2, 2), dtype=np.bool_)
    order = PartialOrder(edges)
    edges[0, 1] = True
    assert not order.precedes.any()


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, pickled])
def test_copies_are_equal_and_read_only(twin: Any) -> None:
    order = PartialOrder.from_relations(3, [(0, 1)], arms=["a", "b", "c"])
    again = twin(order)
    assert again == order
    assert hash(again) == hash(order)
    assert not again.precedes.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [("a", "b"), ("b", "c"), ("c", "a")]), r"the cycle a > b > c > a; drop one"),
        ((3, [("a", "a")]), r"relation 0 puts arm 'a' above itself"),
        ((3, [(0, 3)]), r"relation 0: arm 3 is out of range; give a number from 0 to 2"),
        ((3, [(0, 1), (-1, 0)]), r"relation 1: arm -1 is out of range"),
        ((3, [("a", "drama")]), r"unknown arm 'drama'.*The arms are a, b, c"),
        ((3, [(0, 1.0)]), r"arm 1.0 is out of range"),
        ((3, [(0, True)]), r"arm True is out of range"),
        ((3, [(0, 1, 2)]), r"relation 0 must be a \(better, worse\) pair, got \(0, 1, 2\)"),
        ((3, [{0, 1}]), r"must be a \(better, worse\) pair"),
        ((3, ["ab"]), r"must be a \(better, worse\) pair, got 'ab'"),
        ((3, 7), r"must be a list of \(better, worse\) pairs, got 7"),
        ((2, []), r"arms has 3 names for 2 arms"),
        ((0, []), r"n_arms must be a whole number of at least 1, got 0"),
        ((2.5, []), r"n_arms must be a whole number, got 2.5"),
    ],
)
def test_wrong_relations_are_refused(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        PartialOrder.from_relations(*arguments, arms=["a", "b", "c"])


def test_a_close_name_is_suggested() -> None:
    with pytest.raises(LobInputError, match="unknown arm 'dramma'; did you mean 'drama'"):
        PartialOrder.from_ranking(["dramma"], arms=GENRES)


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ([0, 1], "no permutation of the 3 arms: 'c' is missing; rank every arm exactly once"),
        ([0, 1, 1], "'c' is missing, 'b' comes 2 times"),
        ([0, 1, 2, 0], "'a' comes 2 times"),
        ([0, 1, 3], "arm 3 is out of range"),
        ("abc", "must be a list of arms, best first, got 'abc'"),
        ({0, 1, 2}, "must be a list of arms, best first"),
        (None, "must be a list of arms, best first, got None"),
    ],
)
def test_wrong_rankings_are_refused(ranking: Any, message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        PartialOrder.from_ranking(ranking, arms=["a", "b", "c"])


def test_an_empty_ranking_is_refused() -> None:
    with pytest.raises(LobInputError, match="n_arms must be a whole number of at least 1, got 0"):
        PartialOrder.from_ranking([])


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        (["a", "b", "a"], "arms names 'a' more than once"),
        (["a", 1, "c"], r"arms\[1\] is 1; an arm name must be a string"),
        (["a", "b", " "], r"arms\[2\] is ' '; an arm name must not be blank"),
        (["a", "b", "\ud800"], r"arms\[2\] .* no valid Unicode text"),
        ("abc", "arms must be a list of names, got 'abc'"),
        (3, "arms must be a list of names, got 3"),
        ([], "at least 1, got 0"),
    ],
)
def test_wrong_names_are_refused(arms: Any, message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        PartialOrder.from_ranking([0, 1, 2], arms=arms)


def test_names_may_come_from_an_iterator_or_an_array() -> None:
    assert PartialOrder.from_ranking([1, 0], arms=iter("ab")).arms == ("a", "b")
    order = PartialOrder.from_ranking(np.array(["b", "a"]), arms=np.array(["a", "b"]))
    assert order.arms == ("a", "b")
    assert type(order.arms[0]) is str


@pytest.mark.parametrize(
    ("precedes", "message"),
    [
        ([[0, 1], [0, 0]], "precedes must be boolean, got dtype int64"),
        ([[False, True]], r"must have the shape \(n_arms, n_arms\), got \(1, 2\)"),
        ([False], r"must have the shape"),
        ([[True]], "the cycle 0 > 0"),
        ([[False, True], [True, False]], "the cycle 0 > 1 > 0"),
        ([[False], [False, True]], "precedes is no array"),
        (np.zeros((0, 0), dtype=bool), "at least 1, got 0"),
    ],
)
def test_wrong_matrices_are_refused(precedes: Any, message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        PartialOrder(precedes)


def test_means_must_be_finite_numbers() -> None:
    with pytest.raises(LobInputError, match=r"means\[1\] is nan"):
        PartialOrder.from_means([0.0, np.nan])
    with pytest.raises(LobInputError, match="means must have 1 axes"):
        PartialOrder.from_means([[0.0, 1.0]])
