import numpy as np
import pytest
from hypothesis import given, settings
from tests.orders import naive
from tests.orders.pictures import DIAMOND, GENRES, LADDER, LONG, PASSING, TREE, check_diagram

from lobandits import LatentOrders, PartialOrder
from lobandits.orders.hasse import lay_out, wrapped


@pytest.mark.parametrize("relations", [DIAMOND, LADDER, PASSING, TREE, [], [(7, 0)]])
def test_hasse_diagram_of_one_state(relations: list[naive.Pair]) -> None:
    order = PartialOrder.from_relations(8, relations, arms=GENRES)
    figure = order.plot()
    (ax,) = figure.axes
    assert len(ax.lines) == len(order.relations)
    assert sorted(text.get_text() for text in ax.texts) == GENRES
    check_diagram(figure, ax, 8)


@settings(max_examples=25)
@given(naive.acyclic_pairs(8))
def test_no_label_is_ever_covered(relations: list[naive.Pair]) -> None:
    figure = PartialOrder.from_relations(8, relations, arms=GENRES).plot()
    check_diagram(figure, figure.axes[0], 8)


def test_slanting_lines_keep_clear_of_labels() -> None:
    relations = [(a, b) for a in range(12) for b in range(12, 24)]
    figure = PartialOrder.from_relations(24, relations).plot()
    check_diagram(figure, figure.axes[0], 24)


def test_wide_letters_get_their_room() -> None:
    names = ["top", "WWWWWWWWWWWWWWWW", "MWMWMWMWMWMWMWMW", "@@@@@@@@@@@@@@@@"]
    figure = PartialOrder.from_relations(4, [(0, 1), (0, 2), (0, 3)], arms=names).plot()
    check_diagram(figure, figure.axes[0], 4)


def test_better_arms_stand_higher() -> None:
    order = PartialOrder.from_relations(8, PASSING)
    y = lay_out(order.precedes, order.arms).places[:, 1]
    for a, b in naive.closure(PASSING):
        assert y[a] < y[b]


def test_long_and_strange_names_are_shown() -> None:
    names = [*LONG, "$5 off, or $10 off", "WWWWWWWWWW WWWWWW", "b"]
    figure = PartialOrder.from_relations(5, [(0, 1), (0, 2), (2, 3), (0, 4)], arms=names).plot()
    check_diagram(figure, figure.axes[0], 5)
    assert figure.axes[0].texts[2].get_text() == "$5 off, or $10 off"
    assert not figure.axes[0].texts[2].get_parse_math()
    assert wrapped(LONG[0]) == "A very long name,\nwith a comma, that\ngoes on and on"
    assert wrapped("one " * 40).endswith("…")


def test_all_diagrams_have_the_same_scale() -> None:
    orders = LatentOrders.from_relations(8, [DIAMOND, PASSING, TREE], arms=GENRES)
    figure = orders.plot()
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert len({round(float(np.diff(ax.get_xlim())[0]), 6) for ax in figure.axes}) == 1


def test_the_arms_with_none_above_are_shaded() -> None:
    figure = PartialOrder.from_relations(8, TREE, arms=GENRES).plot()
    shades = {
        text.get_text(): text.get_bbox_patch().get_facecolor()  # type: ignore[union-attr]
        for text in figure.axes[0].texts
    }
    assert shades["Action"] == shades["Horror"] != shades["Drama"] == shades["Comedy"]
