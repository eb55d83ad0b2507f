"""``lob show``: the orders in a file."""

from pathlib import Path
from typing import Annotated

import typer

from lobandits.cli.model_summary import OrdersPlot, print_saved
from lobandits.cli.options import checked_suffix, save_picture
from lobandits.cli.saved_orders import load_saved


def show(
    orders: Annotated[
        Path, typer.Argument(help="A JSON file that lob learn or LatentOrders.save wrote.")
    ],
    plot: OrdersPlot = None,
) -> None:
    """Print the orders in a file, each arm by its name, the best first.

    Of a model learned from logs its states with their best arms, how its users differ, and how the
    number of states was chosen.

    Example: lob show orders.json --plot orders.png
    """
    from lobandits.learning import Model

    checked_suffix("--plot", plot)
    saved = load_saved(orders)
    if isinstance(saved, Model):
        print_saved(saved)
    else:
        typer.echo(str(saved))
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(saved.plot(), plot)}")
