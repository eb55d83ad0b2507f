import copy
import math
import pickle
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.orders import naive

from lobandits import LatentOrders, LobInputError, LobWarning, PartialOrder

ABC = ["a", "b", "c"]


def pickled(orders: LatentOrders) -> Any:
    return pickle.loads(pickle.dumps(orders))


def quietly(k: int, states: list[list[naive.Pair]]) -> LatentOrders:
    """As from_relations, for random states that may repeat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LobWarning)
        return LatentOrders.from_relations(k, states)


def test_rankings() -> None:
    orders = LatentOrders.from_rankings([[2, 0, 1], ["a", "b", "c"]], arms=ABC)
    assert (orders.n_states, orders.n_arms, orders.arms) == (2, 3, ("a", "b", "c"))
    assert orders.is_total
    assert orders[0] == PartialOrder.from_ranking([2, 0, 1], arms=ABC)
    assert orders[-1].ranking == (0, 1, 2)
    np.testing.assert_array_equal(orders.maximal, [[False, False, True], [True, False, False]])
    np.testing.assert_array_equal(orders.tops, [True, False, True])
    assert orders == LatentOrders.from_rankings(np.array([[2, 0, 1], [0, 1, 2]]), arms=ABC)
    unnamed = LatentOrders.from_rankings(iter(row) for row in [[2, 0, 1], [0, 1, 2]])
    np.testing.assert_array_equal(unnamed.precedes, orders.precedes)


def test_relations() -> None:
    orders = LatentOrders.from_relations(4, [[(0, 1), (1, 2)], [(3, 0)]])
    assert not orders.is_total
    assert orders.precedes.shape == (2, 4, 4)
    assert orders.precedes[0, 0, 2]
    assert orders.precedes.sum() == 4
    np.testing.assert_array_equal(orders.tops, [True, True, True, True])
    np.testing.assert_array_equal(orders.maximal[1], [False, True, True, True])


def test_means() -> None:
    orders = LatentOrders.from_means([[1.0, 3.0, 2.0], [1.0, 0.0, 1.0]], arms=ABC)
    assert str(orders) == "state 0: b > c > a\nstate 1: a > b; c > b"
    assert LatentOrders.from_means([[1, 2], [2, 1]]).is_total


def test_a_matrix_per_state() -> None:
    orders = LatentOrders.from_relations(3, [[(0, 1), (1, 2)], [(2, 0)]], arms=ABC)
    assert LatentOrders(orders.precedes, arms=ABC) == orders
    direct = [[[False, True, False], [False, False, True], [False, False, False]]]
    assert LatentOrders(direct)[0].ranking == (0, 1, 2)


def test_stacked_states() -> None:
    orders = LatentOrders.from_relations(3, [[(0, 1)], [(2, 0)]], arms=ABC)
    assert LatentOrders.stack(orders) == orders
    assert LatentOrders.stack([orders[1]])[0] == orders[1]
    with pytest.raises(LobInputError, match=r"state 1 has the arms \('0', '1', '2'\), state 0"):
        LatentOrders.stack([orders[0], PartialOrder.from_ranking([0, 1, 2])])
    with pytest.raises(LobInputError, match="state 0 must be a PartialOrder, got 'a > b'"):
        LatentOrders.stack(["a > b"])  # type: ignore[list-item]


@given(naive.states_of_pairs())
def test_everything_agrees_with_the_naive_twin(
    k_and_states: tuple[int, list[list[naive.Pair]]],
) -> None:
    k, states = k_and_states
    orders = quietly(k, states)
    above = [naive.closure(pairs) for pairs in states]
    assert [naive.pairs_of(one) for one in orders.precedes] == above
    assert list(orders) == [PartialOrder.from_relations(k, pairs) for pairs in states]
    distances = [[naive.kendall_distance(one, other) for other in above] for one in above]
    np.testing.assert_array_equal(orders.kendall_distances(), distances)
    np.testing.assert_array_equal(orders.incompatible(), np.array(distances) > 0)
    np.testing.assert_array_equal(orders.maximal, [state.maximal for state in orders])
    np.testing.assert_array_equal(orders.tops, np.any([s.maximal for s in orders], axis=0))
    assert orders.is_total == all(state.is_total for state in orders)


def test_kendall_distance_of_a_reversed_ranking_is_the_number_of_pairs() -> None:
    orders = LatentOrders.from_rankings([range(19), range(18, -1, -1), [1, 0, *range(2, 19)]])
    distances = orders.kendall_distances()
    assert distances.dtype == np.int64
    np.testing.assert_array_equal(distances, [[0, 171, 1], [171, 0, 170], [1, 170, 0]])


def test_compatible_states() -> None:
    orders = LatentOrders.from_relations(3, [[(0, 1)], [(1, 2)], [(1, 0)]])
    np.testing.assert_array_equal(
        orders.incompatible(), [[False, False, True], [False, False, False], [True, False, False]]
    )


class TestReveal:
    rankings = np.random.default_rng(0).permuted(np.tile(np.arange(16), (30, 1)), axis=1)
    orders = LatentOrders.from_rankings(rankings)

    @pytest.mark.parametrize("q", [0.0, 0.01, 0.2, 0.4, 0.5, 0.6, 0.8, 0.999, 1.0, 1 / 15, 7 / 15])
    def test_keeps_that_many_consecutive_relations(self, q: float) -> None:
        revealed = self.orders.reveal(q, rng=1)
        count = math.ceil(round(q * 15, 6))
        for ranking, state in zip(self.rankings.tolist(), revealed, strict=True):
            assert len(state.relations) == count
            assert set(state.relations) <= set(pairwise(ranking))

    def test_all_or_nothing(self) -> None:
        assert self.orders.reveal(1.0, rng=0) == self.orders
        assert not self.orders.reveal(0.0, rng=0).precedes.any()

    def test_depends_on_the_seed_alone(self) -> None:
        first = self.orders.reveal(0.5, rng=3)
        assert first == self.orders.reveal(0.5, rng=np.random.default_rng(3))
        assert first != self.orders.reveal(0.5, rng=4)

    def test_every_relation_is_kept_equally_often(self) -> None:
        orders = LatentOrders.stack([PartialOrder.from_ranking([2, 0, 3, 1])])
        rng = np.random.default_rng(5)
        kept = [set(orders.reveal(0.5, rng)[0].relations) for _ in range(3000)]
        for relation in [(2, 0), (0, 3), (3, 1)]:
            share = np.mean([relation in relations for relations in kept])
            assert share == pytest.approx(2 / 3, abs=0.05)

    def test_states_that_become_equal_do_not_warn(self) -> None:
        revealed = self.orders.reveal(0.0, rng=0)
        assert revealed[0] == revealed[1]
        assert revealed.arms == self.orders.arms

    def test_one_arm(self) -> None:
        one = LatentOrders.from_rankings([[0]])
        assert one.reveal(0.5, rng=0) == one

    def test_needs_total_orders(self) -> None:
        orders = LatentOrders.from_relations(3, [[(0, 1), (1, 2)], [(1, 0)]], arms=ABC)
        with pytest.raises(LobInputError, match="state 1 is partial: b > a; c free"):
            orders.reveal(0.5, rng=0)

    @pytest.mark.parametrize("q", [-0.1, 1.1, math.nan, "half"])
    def test_needs_a_fraction(self, q: Any) -> None:
        with pytest.raises(LobInputError, match="q must"):
            self.orders.reveal(q, rng=0)

    def test_needs_a_generator_or_a_seed(self) -> None:
        with pytest.raises(LobInputError, match="rng must be a whole number"):
            self.orders.reveal(0.5, rng="seed")  # type: ignore[arg-type]


class TestRepeatedStates:
    message = r"states 0 and 2; 1 and 3 and 4 have the same order"

    def test_warn_and_are_named(self) -> None:
        rankings = [[0, 1], [1, 0], [0, 1], [1, 0], [1, 0]]
        with pytest.warns(LobWarning, match=self.message) as caught:
            orders = LatentOrders.from_rankings(rankings)
        assert orders.n_states == 5
        assert caught[0].filename == __file__
        with pytest.warns(LobWarning, match=self.message):
            LatentOrders.from_means([[1, 0], [0, 1], [2, 1], [3, 4], [0, 9]])
        with pytest.warns(LobWarning, match=self.message):
            LatentOrders.stack(list(orders))
        with pytest.warns(LobWarning, match=self.message) as caught:
            LatentOrders(orders.precedes)
        assert caught[0].filename == __file__

    def test_are_found_by_the_closure(self) -> None:
        with pytest.warns(LobWarning, match="states 0 and 1 have the same order"):
            LatentOrders.from_relations(3, [[(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]])

    def test_copies_do_not_warn(self) -> None:
        orders = LatentOrders.from_rankings([[0, 1], [1, 0]]).reveal(0.0, rng=0)
        assert pickle.loads(pickle.dumps(orders)) == orders
        assert LatentOrders.from_dict(orders.to_dict()) == orders


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: LatentOrders.from_relations(3, [[], [(0, 1), (1, 2), (2, 0)]], arms=ABC),
            "state 1 has the cycle a > b > c > a; drop one of these relations",
        ),
        (
            lambda: LatentOrders.from_relations(3, [[(0, 1)], [("b", "b")]], arms=ABC),
            "state 1, relation 0 puts arm 'b' above itself; remove it",
        ),
        (
            lambda: LatentOrders.from_relations(3, [[(0, 1), (3, 1)]]),
            "state 0, relation 1: arm 3 is out of range",
        ),
        (
            lambda: LatentOrders.from_relations(3, [[("a", "d")]], arms=ABC),
            "state 0, relation 0: unknown arm 'd'",
        ),
        (
            lambda: LatentOrders.from_rankings([[0, 1, 2], [0, 1, 1]], arms=ABC),
            "the ranking of state 1 is no permutation of the 3 arms: 'c' is missing, 'b' comes 2",
        ),
        (
            lambda: LatentOrders.from_rankings([[0, 1, 2], [0, 1]]),
            "the ranking of state 1 is no permutation of the 3 arms: '2' is missing",
        ),
        (lambda: LatentOrders.from_rankings([[0, 5]]), "arm 5 is out of range"),
        (
            lambda: LatentOrders.from_rankings([0, 1]),  # type: ignore[list-item]
            "the ranking of state 0 must be a list of arms, best first, got 0",
        ),
        (lambda: LatentOrders.from_rankings([]), "got none; give at least one state"),
        (lambda: LatentOrders.from_rankings([], arms=ABC), "give at least one state"),
        (lambda: LatentOrders.from_relations(3, []), "give at least one state"),
        (lambda: LatentOrders.from_means(np.zeros((0, 3))), "give at least one state"),
        (lambda: LatentOrders(np.zeros((0, 3, 3), dtype=bool)), "give at least one state"),
        (lambda: LatentOrders.stack([]), "give at least one state"),
        (lambda: LatentOrders.from_rankings([[]]), "n_arms must be .* at least 1, got 0"),
        (lambda: LatentOrders.from_relations(0, [[]]), "n_arms must be .* at least 1, got 0"),
        (lambda: LatentOrders.from_means(np.zeros((3, 0))), "n_arms must be .* at least 1, got 0"),
        (lambda: LatentOrders.from_rankings([[0, 1]], arms=["a", "a"]), "'a' more than once"),
        (lambda: LatentOrders.from_rankings([[0, 1]], arms="ab"), "must be a list of names"),
        (
            lambda: LatentOrders.from_rankings([[0, 1]], arms=[0, 1]),  # type: ignore[list-item]
            "an arm name must be a string",
        ),
        (lambda: LatentOrders.from_means([[0.0, math.inf]]), r"means\[0, 1\] is inf"),
        (lambda: LatentOrders.from_means([0.0, 1.0]), "means must have 2 axes"),
        (
            lambda: LatentOrders(np.zeros((2, 3), dtype=bool)),
            r"must have the shape \(n_states, n_arms, n_arms\), got \(2, 3\)",
        ),
        (lambda: LatentOrders(np.ones((1, 2, 2), dtype=bool)), "state 0 has the cycle 0 > 0"),
    ],
)
def test_wrong_input_is_refused(make: Any, message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        make()


def test_states_are_chosen_by_number() -> None:
    orders = LatentOrders.from_rankings([[0, 1], [1, 0]])
    assert orders[np.int64(1)] == orders[-1]
    for wrong in (2, -3):
        with pytest.raises(IndexError, match=f"state {wrong} is out of range"):
            orders[wrong]
    with pytest.raises(LobInputError, match="a state is chosen by its number, got slice"):
        orders[0:1]  # type: ignore[index]


def test_length_and_iteration() -> None:
    orders = LatentOrders.from_rankings([[0, 1], [1, 0]])
    assert len(orders) == 2
    assert [state.ranking for state in orders] == [(0, 1), (1, 0)]
    assert orders[0] in orders


def test_equality_and_hash() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]])
    same = LatentOrders.from_relations(3, [[(0, 1), (1, 2)], [(2, 1), (1, 0), (2, 0)]])
    assert orders == same
    assert hash(orders) == hash(same)
    assert orders != LatentOrders.from_rankings([[2, 1, 0], [0, 1, 2]])
    assert orders != LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]], arms=ABC)
    assert orders != LatentOrders.from_rankings([[0, 1, 2]])
    assert orders != "orders"


def test_repr_and_printed_form() -> None:
    orders = LatentOrders.from_relations(3, [[(0, 1)], [(2, 0), (0, 1)]], arms=ABC)
    assert repr(orders) == "LatentOrders(2 states, 3 arms, partial)"
    assert str(orders) == "state 0: a > b; c free\nstate 1: c > a > b"
    assert repr(LatentOrders.from_rankings([[0]])) == "LatentOrders(1 state, 1 arm, total)"


def test_nothing_can_be_changed() -> None:
    orders = LatentOrders.from_rankings([[0, 1], [1, 0]])
    arrays = [orders.precedes, orders.maximal, orders.tops, orders[0].precedes, *orders.tables]
    for array in arrays:
        assert not array.flags.writeable
    with pytest.raises(AttributeError, match="cannot assign to field 'arms'"):
        orders.arms = ("x", "y")  # type: ignore[misc]


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, pickled])
def test_copies_are_equal_and_read_only(twin: Any) -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]], arms=ABC)
    again = twin(orders)
    assert again == orders
    assert hash(again) == hash(orders)
    assert not again.precedes.flags.writeable


def test_caches_do_not_travel() -> None:
    orders = LatentOrders.from_rankings(np.random.default_rng(0).permuted([range(19)] * 9, axis=1))
    before = len(pickle.dumps(orders))
    assert orders.tables
    assert orders.tops.any()
    assert hash(orders)
    assert len(pickle.dumps(orders)) == before


@given(st.data())
def test_the_printed_form_tells_states_apart(data: st.DataObject) -> None:
    first, second = (
        PartialOrder.from_relations(5, data.draw(naive.acyclic_pairs(5))) for _ in range(2)
    )
    assert (str(first) == str(second)) == (first == second)


@given(st.data())
def test_only_some_arms_keep_their_relations(data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 6))
    states = data.draw(st.lists(naive.acyclic_pairs(k), min_size=1, max_size=3))
    some = data.draw(st.lists(st.integers(0, k - 1), min_size=1, unique=True))
    orders = quietly(k, states).only(some)
    assert orders.arms == tuple(str(arm) for arm in some)
    for s, pairs in enumerate(states):
        above = naive.closure(pairs)
        expected = [[(a, b) in above for b in some] for a in some]
        np.testing.assert_array_equal(orders.precedes[s], expected)
    assert orders == quietly(k, states).only([str(arm) for arm in some])
    assert pickled(orders) == orders
    assert not orders.precedes.flags.writeable
    assert orders.precedes.flags.c_contiguous


@pytest.mark.parametrize("arms", [[], ["a", "a"], ["d"], [3], "a", None])
def test_only_refuses_what_are_no_arms(arms: Any) -> None:
    with pytest.raises(LobInputError):
        LatentOrders.from_rankings([ABC], arms=ABC).only(arms)


def test_a_new_arm_stands_where_another_does_or_free() -> None:
    orders = LatentOrders.from_rankings([["a", "b", "c"], ["c", "a", "b"]], arms=["a", "b", "c"])
    like = orders.with_arm("d", like="b")
    assert str(like[0]) == str(
        PartialOrder.from_relations(
            4, [("a", "b"), ("b", "c"), ("a", "d"), ("d", "c")], ["a", "b", "c", "d"]
        )
    )
    assert orders == like.only(["a", "b", "c"])
    assert not orders.with_arm("d").precedes[:, 3].any()
    assert not orders.with_arm("d").precedes[:, :, 3].any()
    with pytest.raises(LobInputError, match="there is an arm 'a' already"):
        orders.with_arm("a")


def test_rankings_of_names_need_no_arms() -> None:
    orders = LatentOrders.from_rankings([["drama", "comedy"], ["comedy", "drama"]])
    assert orders.arms == ("comedy", "drama")
    assert str(orders[0]) == "drama > comedy"
    assert LatentOrders.from_rankings([["1", "0"], [0, 1]]).arms == ("0", "1")
    with pytest.raises(LobInputError, match="'horror' is missing"):
        LatentOrders.from_rankings([["drama", "comedy", "horror"], ["comedy", "drama"]])
