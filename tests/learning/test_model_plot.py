"""The picture of a learned model."""

import numpy as np
from tests.learning.test_model import learned


def test_the_plot_shows_the_largest_state_on_top() -> None:
    model = learned()
    ranks, bars, scale = model.plot().axes
    largest = np.argsort(-model.sizes, kind="stable")
    assert [label.get_text() for label in ranks.get_yticklabels()] == [str(s) for s in largest]
    widths = [bar.get_extents().width for bar in bars.patches]
    ratio = widths[0] / model.sizes.max()
    np.testing.assert_allclose(widths, ratio * model.sizes[largest])
    assert scale.get_ylabel() == "rank (1 is best)"
