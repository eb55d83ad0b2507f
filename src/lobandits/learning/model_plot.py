"""The picture of a learned model: the states' ranks, and how many users each has."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lobandits._checks import IntArray
from lobandits._plots import EM, FONT_SIZE, PAGE_WIDTH
from lobandits.learning.model import OrderModel
from lobandits.orders import LatentOrders
from lobandits.orders.ranks import plot_ranks

BAR_WIDTH = 1.4  # in inches


def plot_model(model: OrderModel) -> Figure:
    """Draw the arms' ranks in each state, the largest state on top, and the states' sizes."""
    states = np.argsort(-model.sizes, kind="stable")
    width, height = _size(model.orders)
    figure = Figure(figsize=(width + BAR_WIDTH + 1.6, height), layout="constrained")
    ratios = {"width_ratios": [width, BAR_WIDTH]}
    ranks, bars = figure.subplots(1, 2, sharey=True, gridspec_kw=ratios)
    plot_ranks(model.orders, states.tolist(), ranks, beside=[bars])
    _plot_sizes(model.sizes[states], bars)
    return figure


def _size(orders: LatentOrders) -> tuple[float, float]:
    """Return the width of the ranks, and the height of all with the arms' names, in inches."""
    names = min(max(map(len, orders.arms)), 30) * EM * 0.6
    width = min(max(0.34 * orders.n_arms, 2.4), PAGE_WIDTH - BAR_WIDTH)
    return width, min(max(0.26 * orders.n_states, 1.4), 9.0) + names + 0.5


def _plot_sizes(sizes: IntArray, ax: Axes) -> None:
    ax.barh(np.arange(len(sizes)), sizes, color="0.45", height=0.8)
    ax.set_xlabel("users")
    ax.tick_params(axis="y", left=False, labelleft=False)
    ax.tick_params(axis="x", labelsize=FONT_SIZE)
    ax.spines[["top", "right"]].set_visible(False)
    ax.locator_params(axis="x", nbins=3, integer=True)
