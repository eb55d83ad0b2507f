"""Orders as a table on the terminal."""

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders

MOST_SHOWN = 20
OTHER_COLUMNS = 36


def states_table(
    orders: "LatentOrders", sizes: Sequence[int] | None = None, width: int | None = None
) -> "Table":
    """Return one row for each state, the largest first.

    With a ``width`` of the terminal, each of the ``MOST_SHOWN`` largest in one line.
    """
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_lines=width is None)
    table.add_column("state", justify="right")
    states = list(range(orders.n_states))
    if sizes is not None:
        table.add_column("users", justify="right")
        table.add_column("share", justify="right")
        states.sort(key=lambda s: -sizes[s])
    table.add_column("order, best first", overflow="fold")
    for s in states[: None if width is None else MOST_SHOWN]:
        members = [] if sizes is None else [f"{sizes[s]:,}", f"{sizes[s] / sum(sizes):.1%}"]
        table.add_row(str(s), *members, escape(_cut(str(orders[s]), width)))
    return table


def _cut(text: str, width: int | None) -> str:
    room = len(text) if width is None else max(width - OTHER_COLUMNS, 20)
    return text if len(text) <= room else text[: room - 1] + "…"


def summary(model: "OrderModel") -> "Table":
    """Return what was learned, in numbers."""
    from rich.table import Table

    sigma = "unknown (no user tried an arm twice)" if isnan(model.sigma) else f"{model.sigma:.4g}"
    table = Table(box=None, show_header=False)
    for name, value in {
        "users": f"{model.n_users:,}",
        "arms": f"{model.orders.n_arms}",
        "states": f"{model.orders.n_states}",
        "merged states": f"{model.merged}",
        "imputed means": f"{model.imputed_share:.1%}",
        "estimated sigma": sigma,
    }.items():
        table.add_row(name, value)
    return table
