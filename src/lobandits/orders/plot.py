"""Pictures of orders: Hasse diagrams of a few states, a heat-map of ranks for many."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lobandits._checks import one_of
from lobandits.errors import LobInputError
from lobandits.orders.hasse import plot_hasse
from lobandits.orders.positions import parse_positions
from lobandits.orders.ranks import plot_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.orders.latent import LatentOrders

MOST_DIAGRAMS = 6
MOST_ARMS = 40


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
