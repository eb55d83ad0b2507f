"""Held-out regret and distance over the number of states, as a picture."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.selection.choice import StatesChoice


def plot_choice(choice: "StatesChoice") -> "Figure":
    """Draw a choice; see :meth:`lobandits.selection.StatesChoice.plot`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw(left, choice, "regret", f"regret of lobTS after {choice.horizon:,} rounds")
    _draw(right, choice, "distance", "Kendall distance to the nearest order")
    left.axhline(choice.baseline.mean(), color="0.5", linestyle="--", linewidth=1, label="TS")
    left.legend(edgecolor="none", framealpha=1.0)
    return figure


def _draw(axes: "Axes", choice: "StatesChoice", measure: str, label: str) -> None:
    values = np.array([row[measure] for row in choice.table])
    errors = np.array([row[f"{measure}_error"] for row in choice.table])
    axes.errorbar(choice.grid, values, errors, marker="o", markersize=4, capsize=2, linewidth=1.4)
    axes.axvline(choice.recommended, color="C1", linewidth=1, label="recommended")
    axes.set_xscale("log", base=2)
    axes.set_xticks(choice.grid, [str(m) for m in choice.grid], fontsize=8)
    axes.minorticks_off()
    axes.set_xlabel("states")
    axes.set_ylabel(label)
    axes.spines[["top", "right"]].set_visible(False)
