"""Orders as a table on the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders

MOST_SHOWN = 20
OTHER_COLUMNS = 36
OrdersPlot = Annotated[
    Path | None, typer.Option(help="Save a picture of the orders: .png, .pdf or .svg.")
]


def print_orders(saved: "OrderModel | LatentOrders", brief: bool) -> None:
    """Print a row for each state, the largest first.

    If ``brief``, only the ``MOST_SHOWN`` largest, each in one line of the terminal.
    """
    from rich.console import Console

    from lobandits.learning import OrderModel

    console = Console(highlight=False)
    model = saved if isinstance(saved, OrderModel) else None
    orders = saved.orders if isinstance(saved, OrderModel) else saved
    room = max(console.width - OTHER_COLUMNS, 20) if brief else None
    console.print(_states_table(orders, [] if model is None else model.sizes.tolist(), room))
    if brief and orders.n_states > MOST_SHOWN:
        console.print(f"... and {orders.n_states - MOST_SHOWN} smaller states")


def _states_table(orders: "LatentOrders", sizes: list[int], room: int | None) -> "Table":
    """Return a row for each state; with ``room``, of the largest, each cut to so many letters."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_lines=room is None)
    states = list(range(orders.n_states))
    table.add_column("state", justify="right")
    if sizes:
        table.add_column("users", justify="right")
        table.add_column("share", justify="right")
        states.sort(key=lambda s: -sizes[s])
    table.add_column("order, best first", overflow="fold")
    for s in states if room is None else states[:MOST_SHOWN]:
        members = [f"{sizes[s]:,}", f"{sizes[s] / sum(sizes):.1%}"] if sizes else []
        text = str(orders[s])
        if room is not None and len(text) > room:
            text = text[: room - 1] + "…"
        table.add_row(str(s), *members, escape(text))
    return table
