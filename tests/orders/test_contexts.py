"""Contexts: orders side by side, over arms that are named after their contexts."""

from pathlib import Path

import pytest

from lobandits import LatentOrders, LobInputError
from lobandits.orders.contexts import arms_in_context, contexts_of, places

MORNING = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]], ["tea", "milk", "juice"])
EVENING = LatentOrders.from_rankings([[1, 0], [0, 1]], ["tea", "wine"])
BOTH = LatentOrders.per_context({"morning": MORNING, "evening": EVENING})
NAMES = ("morning: tea", "morning: milk", "morning: juice", "evening: tea", "evening: wine")


def test_a_state_holds_the_orders_of_all_contexts_side_by_side() -> None:
    assert BOTH.arms == NAMES
    assert BOTH.contexts == ("morning", "evening")
    assert (BOTH.precedes[:, :3, :3] == MORNING.precedes).all()
    assert (BOTH.precedes[:, 3:, 3:] == EVENING.precedes).all()
    assert not BOTH.precedes[:, :3, 3:].any()
    assert not BOTH.precedes[:, 3:, :3].any()
    assert str(BOTH[0]).startswith("morning: tea > morning: milk > morning: juice; evening: wine >")


def test_each_context_comes_back() -> None:
    assert BOTH.in_context("morning") == MORNING
    assert BOTH.in_context("evening") == EVENING


def test_contexts_are_saved_and_loaded(tmp_path: Path) -> None:
    BOTH.save(tmp_path / "orders.json")
    assert LatentOrders.load(tmp_path / "orders.json") == BOTH


def test_one_context_has_the_order_it_was_given() -> None:
    one = LatentOrders.per_context({"morning": MORNING})
    assert (one.precedes == MORNING.precedes).all()
    assert (one.tables.kind == MORNING.tables.kind).all()


def test_orders_without_contexts_have_none() -> None:
    assert MORNING.contexts == ()
    assert contexts_of(("a", "b:c", "ratio 1:2")) == {}


def test_the_first_separator_ends_the_context() -> None:
    assert contexts_of(("late: Star Wars: A New Hope",)) == {"late": [0]}


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ({}, "give the orders of each context"),
        ([MORNING], "give the orders of each context"),
        ({"morning": [[0, 1]]}, "context 'morning' must have LatentOrders"),
        (
            {"morning": MORNING, "evening": LatentOrders.from_rankings([[0, 1]])},
            "different numbers of states",
        ),
        ({"a: b": MORNING}, "must not contain ': '"),
        ({" ": MORNING}, "not blank"),
        ({3: MORNING}, "must be text"),
    ],
)
def test_orders_that_do_not_align_are_refused(orders: object, message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        LatentOrders.per_context(orders)  # type: ignore[arg-type]


def test_an_unknown_context_names_the_known_ones() -> None:
    with pytest.raises(LobInputError, match=r"did you mean 'evening'.*contexts are morning, eve"):
        BOTH.in_context("evning")
    with pytest.raises(LobInputError, match="no arm is named 'context: arm'"):
        arms_in_context(MORNING.arms, "morning")


def test_places_within_a_context() -> None:
    assert places(NAMES, None, None) == [0, 1, 2, 3, 4]
    assert places(NAMES, ["evening: tea", 0], None) == [3, 0]
    assert places(NAMES, None, "evening") == [3, 4]
    assert places(NAMES, ["wine"], "evening") == [4]
    with pytest.raises(LobInputError, match="unknown arm 'juice'"):
        places(NAMES, ["juice"], "evening")


def test_states_are_told_apart_by_any_context() -> None:
    assert BOTH.incompatible()[0, 1]
