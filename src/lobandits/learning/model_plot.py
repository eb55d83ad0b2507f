"""The picture of a learned model: the states' ranks, and how many users each has."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lobandits.basics.checks import IntArray
from lobandits.basics.plots import EM, FONT_SIZE, PAGE_WIDTH
from lobandits.learning.curve import ALIKE, EvidenceCurve
from lobandits.learning.model import Model
from lobandits.orders import LatentOrders
from lobandits.orders.plot import plot_ranks

BAR_WIDTH, CURVE_WIDTH = 1.4, 3.2  # in inches


def plot_model(model: Model) -> Figure:
    """Draw the arms' ranks in each state, the largest state on top, and the states' sizes.

    To the right, how the number of states was chosen, if it was.
    """
    states = np.argsort(-model.sizes, kind="stable")
    width, height = _size(model.orders)
    chosen = CURVE_WIDTH if model.curve is not None else 0.0
    figure = Figure(figsize=(width + BAR_WIDTH + chosen + 1.6, height), layout="constrained")
    left: Any = figure
    if model.curve is not None:
        parts: Any = figure.subfigures(1, 2, width_ratios=[width + BAR_WIDTH + 1.6, chosen])
        left, right = parts
        _plot_curve(model.curve, right.subplots())
    ratios = {"width_ratios": [width, BAR_WIDTH]}
    ranks, bars = left.subplots(1, 2, sharey=True, gridspec_kw=ratios)
    plot_ranks(model.orders, states.tolist(), ranks, beside=[bars])
    _plot_sizes(model.sizes[states], bars)
    return figure


def _plot_curve(curve: EvidenceCurve, ax: Axes) -> None:
    """Draw what each number of states gains over one, with bars of a standard error."""
    places = np.arange(len(curve.n_states))
    style: dict[str, Any] = {"marker": "o", "markersize": 4, "capsize": 2, "linewidth": 1.2}
    ax.errorbar(places, curve.gain, curve.error, color="0.35", **style)
    ax.axvline(curve.n_states.index(curve.chosen), color="C1", linewidth=1, label="chosen")
    names = [str(m or ALIKE) for m in curve.n_states]
    ax.set_xticks(places, names, rotation=90, fontsize=FONT_SIZE)
    ax.tick_params(axis="y", labelsize=FONT_SIZE)
    ax.set_xlabel("states")
    ax.set_ylabel("nats per user\nover one state", fontsize=FONT_SIZE)
    low = min(curve.gain[1:].min(), 0.0) if len(curve.gain) > 1 else 0.0
    high = max(curve.gain.max(), 0.0)
    if curve.gain[0] < low - 2 * (high - low):  # users alike may be far below: let states be seen
        room = max(high - low, 1e-9)
        ax.set_ylim(low - 0.5 * room, high + 0.2 * room)
    ax.legend(fontsize=FONT_SIZE, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


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
