"""Pictures of orders: Hasse diagrams of a few states, a heat-map of ranks for many."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lobandits.basics.checks import one_of
from lobandits.basics.plots import EM, FONT_SIZE, PAGE_WIDTH, figure_of, spaced
from lobandits.errors import LobInputError
from lobandits.orders.hasse import plot_hasse
from lobandits.orders.parse import parse_positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.orders.latent import LatentOrders


MOST_DIAGRAMS = 6
MOST_ARMS = 40
MOST_NUMBERED = 30


def plot_orders(
    orders: "LatentOrders", states: Sequence[int] | None, kind: str, ax: "Axes | None"
) -> "Figure":
    """Draw some states in the way asked for, or the one that fits their number."""
    some = range(orders.n_states) if states is None else states
    wanted = "a list of states' numbers"
    rows = parse_positions(some, orders.n_states, "state", wanted, least=1).tolist()
    if one_of("kind", kind, ["auto", "hasse", "ranks"]) == "auto":
        few = len(rows) <= (MOST_DIAGRAMS if ax is None else 1) and orders.n_arms <= MOST_ARMS
        kind = "hasse" if few else "ranks"
    if kind == "ranks":
        return plot_ranks(orders, rows, ax)
    if ax is not None and len(rows) > 1:
        raise LobInputError(
            f"ax holds the Hasse diagram of one state, not of {len(rows)}; choose one with "
            "states=[...], leave ax out, or use kind='ranks'"
        )
    return plot_hasse([orders[s] for s in rows], [f"state {s}" for s in rows], ax)


def plot_ranks(
    orders: "LatentOrders", states: Sequence[int], ax: "Axes | None", beside: Sequence["Axes"] = ()
) -> "Figure":
    """Draw each arm's rank in each state, one plus the number of arms above it.

    Axes ``beside`` it stand between the heat-map and its scale of colours.
    """
    import matplotlib as mpl

    k = orders.n_arms
    ranks = 1 + orders.precedes[list(states)].sum(axis=1)
    numbered = (ax is None or len(beside) > 0) and max(ranks.shape) <= MOST_NUMBERED
    ax = _rank_axes(orders, len(states)) if ax is None else ax
    colours = mpl.colormaps["viridis_r"].resampled(max(k, 2))
    image = ax.imshow(ranks, cmap=colours, vmin=0.5, vmax=max(k, 2) + 0.5, aspect="auto")
    bar = figure_of(ax).colorbar(image, ax=[ax, *beside], label="rank (1 is best)")
    bar.set_ticks([rank + 1 for rank in spaced(k, most=10)])
    bar.ax.invert_yaxis()
    _label_axes(ax, orders.arms, states)
    for (s, a), rank in np.ndenumerate(ranks) if numbered else ():
        colour = "white" if rank > 0.45 * k else "black"
        ax.text(a, s, str(rank), ha="center", va="center", fontsize=FONT_SIZE - 2, color=colour)
    return figure_of(ax)


def _rank_axes(orders: "LatentOrders", n_states: int) -> "Axes":
    from matplotlib.figure import Figure

    labels = min(max(len(name) for name in orders.arms), 30) * EM * 0.6
    width = min(max(0.34 * orders.n_arms, 3.0), PAGE_WIDTH) + 1.6
    height = min(max(0.26 * n_states, 1.6), 9.0) + labels + 0.6
    return Figure(figsize=(width, height), layout="constrained").subplots()


def _label_axes(ax: "Axes", arms: Sequence[str], states: Sequence[int]) -> None:
    columns, rows = spaced(len(arms), most=60), spaced(len(states), most=30)
    names = [arms[a] if len(arms[a]) <= 30 else arms[a][:29] + "…" for a in columns]
    upright = max(map(len, names)) <= 3
    turn = 0 if upright else 90
    ax.set_xticks(columns, names, rotation=turn, fontsize=FONT_SIZE, parse_math=False)
    ax.set_yticks(rows, [str(states[s]) for s in rows], fontsize=FONT_SIZE)
    ax.set_xlabel("arm")
    ax.set_ylabel("state")
