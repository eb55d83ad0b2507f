"""The picture of a learned model."""

from dataclasses import replace

import numpy as np
from tests.learning.test_model import model_of

from lobandits.learning.curve import EvidenceCurve


def test_the_plot_shows_the_largest_state_on_top() -> None:
    model = replace(model_of(), curve=None)
    ranks, bars, scale = model.plot().axes
    largest = np.argsort(-model.sizes, kind="stable")
    assert [label.get_text() for label in ranks.get_yticklabels()] == [str(s) for s in largest]
    widths = [bar.get_extents().width for bar in bars.patches]
    ratio = widths[0] / model.sizes.max()
    np.testing.assert_allclose(widths, ratio * model.sizes[largest])
    assert scale.get_ylabel() == "rank (1 is best)"


def test_the_plot_shows_how_the_number_of_states_was_chosen() -> None:
    gain, error = np.array([-9.0, 0.0, 0.4]), np.array([0.1, 0.0, 0.1])
    curve = EvidenceCurve((0, 1, 2), gain - 5.0, gain, error, chosen=2)
    axes = replace(model_of(), curve=curve).plot().axes
    (chosen,) = (ax for ax in axes if ax.get_xlabel() == "states")
    assert [tick.get_text() for tick in chosen.get_xticklabels()] == ["alike", "1", "2"]
    assert chosen.get_ylim()[0] > -1.0  # users who are alike do not flatten the rest
