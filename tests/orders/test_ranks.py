from itertools import combinations

import numpy as np
from tests.orders.pictures import DIAMOND, LONG, ranked

from lobandits import LatentOrders


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
