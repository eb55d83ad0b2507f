import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lobandits.paper.drawing import INK, Canvas, caption, render, spread, standalone
from lobandits.paper.parts import Record, Records


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_labels_stand_apart_in_their_order_within_the_figure(places: list[float]) -> None:
    ends = np.array(places)
    apart = spread(ends, 0.1)
    order = ends.argsort(kind="stable")
    assert (np.diff(apart[order]) >= 0.1 - 1e-9).all()
    assert apart.min() >= 0
    assert apart.max() <= 1 + 1e-9


def test_labels_that_are_apart_stay() -> None:
    ends = np.array([0.5, 0.1, 0.9])
    np.testing.assert_allclose(spread(ends, 0.1), ends)


def draw(records: Records, canvas: Canvas) -> None:
    for panel in canvas.panels(3, columns=2):
        panel.plot([0, 1], [0, 1])


def test_a_figure_is_rendered_for_screens_and_phones() -> None:
    pictures = render("figure", draw, Records({}), "")
    sizes = {
        kind: [float(x) for x in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0]]
        for kind, svg in pictures.items()
    }
    assert sizes["wide"][0] == pytest.approx(2 * sizes["narrow"][0])
    assert sizes["wide"][1] / 2 == pytest.approx(sizes["narrow"][1] / 3)
    ids = [re.findall(r'\bid="([^"]+)"', svg) for svg in pictures.values()]
    assert all(name.startswith("figure-wide-") for name in ids[0])
    assert not set(ids[0]) & set(ids[1])


def test_a_figure_takes_the_colours_of_its_page_unless_it_stands_alone() -> None:
    svg = render("figure", draw, Records({}), "")["wide"]
    assert INK not in svg
    assert "currentColor" in svg
    assert svg.startswith("<svg ")
    assert standalone(svg).startswith('<?xml version="1.0" encoding="utf-8"?>\n<svg style="color:')


def test_the_ratings_stand_above_the_figure() -> None:
    record = Record({"seed": 3, "seeds": 2}, np.ones(1), {"ucb": np.ones((8, 1))})
    records = Records({(): record}, "ml-20m", "ml-20m: 5 users")
    svg = render("figure", draw, records, caption(records, "users"))["wide"]
    words = " ".join(re.findall(r">([^<>]+)</text>", svg))
    assert "MovieLens, ml-20m: 5 users. In play: 4 users for each of 2 seeds, 3 to 4." in words
    assert "standard error over users and seeds" in words
