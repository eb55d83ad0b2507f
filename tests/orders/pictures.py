"""What the tests of pictures share."""

from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path

from lobandits import LatentOrders

GENRES = ["Action", "Adventure", "Children's", "Comedy", "Crime", "Documentary", "Drama", "Horror"]
LONG = ["A very long name, with a comma, that goes on and on", "Supercalifragilisticexpialidocious"]
DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
LADDER = [(0, 4), (0, 5), (1, 4), (1, 5), (2, 5), (2, 6), (3, 6), (3, 7), (0, 7)]
PASSING = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 4), (6, 4), (6, 7)]
TREE = [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (3, 6)]


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
        crossed = [
            box for box in boxes if Path(points).intersects_bbox(box.padded(-1), filled=False)
        ]
        assert len(crossed) == 2
