import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lobandits.experiments.drawing.labels import spread


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
