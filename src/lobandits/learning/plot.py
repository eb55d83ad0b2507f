"""A picture of a model: the arms' ranks in each state, and how many users each state has."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits.orders.plot import EM, FONT_SIZE, PAGE_WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lobandits.learning.model import OrderModel

BAR_WIDTH = 1.4  # in inches


def plot_model(model: "OrderModel") -> "Figure":
    """Draw the ranks as a heat-map beside bars of the states' sizes, the largest state on top."""
    from matplotlib.figure import Figure

    orders, states = model.orders, np.argsort(-model.sizes, kind="stable")
    names = min(max(map(len, orders.arms)), 30) * EM * 0.6
    width = min(max(0.3 * orders.n_arms, 2.4), PAGE_WIDTH - BAR_WIDTH) + 1.4
    height = min(max(0.22 * len(states), 1.4), 9.0) + names + 0.5
    figure = Figure(figsize=(width + BAR_WIDTH, height), layout="constrained")
    ranks, bars = figure.subplots(
        1, 2, sharey=True, gridspec_kw={"width_ratios": [width, BAR_WIDTH]}
    )
    orders.plot(states=states.tolist(), kind="ranks", ax=ranks)
    bars.barh(np.arange(len(states)), model.sizes[states], color="0.45", height=0.8)
    bars.set_xlabel("users")
    bars.tick_params(axis="y", left=False, labelleft=False)
    bars.tick_params(axis="x", labelsize=FONT_SIZE)
    bars.spines[["top", "right"]].set_visible(False)
    bars.locator_params(axis="x", nbins=3, integer=True)
    return figure
