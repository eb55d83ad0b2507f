from collections.abc import Iterator
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path
from tests.orders import naive

from lobandits import LatentOrders, LobInputError, PartialOrder
from lobandits.orders.plot import lay_out, wrapped

GENRES = ["Action", "Adventure", "Children's", "Comedy", "Crime", "Documentary", "Drama", "Horror"]
LONG = ["A very long name, with a comma, that goes on and on", "Supercalifragilisticexpialidocious"]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def ranked(n_states: int, n_arms: int = 8) -> LatentOrders:
    rng = np.random.default_rng(0)
    names = GENRES if n_arms == 8 else None
    return LatentOrders.from_rankings([rng.permutation(n_arms) for _ in range(n_states)], names)


def check_diagram(figure: Figure, ax: Axes, n_arms: int) -> None:
    """No label overlaps another, leaves the picture, or has a line drawn through it."""
    figure.draw_without_rendering()
    boxes = [text.get_bbox_patch().get_window_extent() for text in ax.texts]  # type: ignore[union-attr]
    assert len(boxes) == n_arms
    for box, other in combinations(boxes, 2):
        assert not box.overlaps(other)
    for box in boxes:
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
    for line in ax.lines:
        points = ax.transData.transform(line.get_xydata())
        crossed = [box for box in boxes if Path(points).intersects_bbox(box.padded(-1))]
        assert len(crossed) == 2


DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
LADDER = [(0, 4), (0, 5), (1, 4), (1, 5), (2, 5), (2, 6), (3, 6), (3, 7), (0, 7)]
PASSING = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 4), (6, 4), (6, 7)]
TREE = [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (3, 6)]


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
    plt.close(figure)


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


@pytest.mark.parametrize("n_states", [1, 2, 5, 6])
def test_a_few_states_are_hasse_diagrams(n_states: int) -> None:
    figure = ranked(n_states).plot()
    assert [ax.get_title() for ax in figure.axes] == [f"state {s}" for s in range(n_states)]
    for ax in figure.axes:
        check_diagram(figure, ax, 8)


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


def test_many_states_are_a_heat_map() -> None:
    orders = ranked(9)
    figure = orders.plot()
    ax, bar = figure.axes
    assert [label.get_text() for label in ax.get_xticklabels()] == GENRES
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(s) for s in range(9)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("arm", "state")
    assert bar.get_ylabel() == "rank (1 is best)"
    assert bar.yaxis_inverted()
    ranks = ax.images[0].get_array()
    assert ranks is not None
    for s, state in enumerate(orders):
        assert tuple(np.argsort(ranks[s])) == state.ranking
    assert [text.get_text() for text in ax.texts] == [str(rank) for rank in ranks.ravel()]
    figure.draw_without_rendering()


def test_ranks_of_partial_orders_count_the_arms_above() -> None:
    orders = LatentOrders.from_relations(4, [[(0, 1), (1, 2)], DIAMOND])
    image = orders.plot(kind="ranks").axes[0].images[0].get_array()
    np.testing.assert_array_equal(image, [[1, 2, 3, 1], [1, 2, 2, 4]])


def test_heat_map_labels_do_not_overlap() -> None:
    figure = ranked(140, 100).plot()
    figure.draw_without_rendering()
    ax = figure.axes[0]
    assert not ax.texts
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        boxes = [label.get_window_extent() for label in labels]
        assert len(boxes) > 10
        assert not any(box.overlaps(other) for box, other in combinations(boxes, 2))


def test_long_names_on_the_heat_map() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2], [1, 2, 0]], arms=[*LONG, "$1 or $2"])
    figure = orders.plot(kind="ranks")
    figure.draw_without_rendering()
    labels = figure.axes[0].get_xticklabels()
    assert labels[0].get_text() == "A very long name, with a comm…"
    assert labels[2].get_text() == "$1 or $2"
    assert not labels[2].get_parse_math()
    assert all(label.get_window_extent().y0 >= 0 for label in labels)


def test_chosen_states() -> None:
    orders = ranked(9)
    assert [ax.get_title() for ax in orders.plot([7, 2]).axes] == ["state 7", "state 2"]
    figure = orders.plot(np.array([8, 3]), kind="ranks")  # type: ignore[arg-type]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["8", "3"]
    assert len(orders.plot(kind="hasse").axes) == 9


def test_the_callers_axes() -> None:
    orders = ranked(9)
    figure, (left, right) = plt.subplots(1, 2, figsize=(6, 2))
    assert orders.plot(states=[1], ax=left) is figure
    assert orders.plot(ax=right) is figure
    assert left.get_title() == "state 1"
    assert len(right.images) == 1
    check_diagram(figure, left, 8)
    part: Any = plt.figure().subfigures(1, 1)
    assert orders[0].plot(ax=part.subplots()) is part.figure


def test_many_arms_are_a_heat_map() -> None:
    assert ranked(2, 50).plot().axes[0].images


def test_one_arm() -> None:
    order = LatentOrders.from_rankings([[0]], arms=["only"])
    check_diagram(figure := order.plot(), figure.axes[0], 1)
    order.plot(kind="ranks").draw_without_rendering()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "hass"}, "unknown kind 'hass'; did you mean 'hasse'"),
        ({"states": [9]}, "state 9 is out of range; the states are 0 to 8"),
        ({"states": [-1]}, "state -1 is out of range"),
        ({"states": []}, "states must be a list of states' numbers"),
        ({"states": 3}, "states must be a list of states' numbers, got 3"),
        ({"states": [0.5]}, "states must be a list of states' numbers"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        ranked(9).plot(**options)


def test_one_set_of_axes_holds_one_diagram() -> None:
    with pytest.raises(LobInputError, match=r"one state, not of 2; choose one with states=\[...\]"):
        ranked(2).plot(kind="hasse", ax=plt.figure().subplots())
