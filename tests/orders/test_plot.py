from collections.abc import Iterator
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.orders.pictures import DIAMOND, GENRES, LONG, check_diagram, ranked

from lobandits import LatentOrders, LobInputError


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize("n_states", [1, 2, 5, 6])
def test_a_few_states_are_hasse_diagrams(n_states: int) -> None:
    figure = ranked(n_states).plot()
    assert [ax.get_title() for ax in figure.axes] == [f"state {s}" for s in range(n_states)]
    for ax in figure.axes:
        check_diagram(figure, ax, 8)


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
