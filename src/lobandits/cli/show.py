"""``lob show``: the orders in a file, as a table and a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders


def show(
    orders: Annotated[
        Path, typer.Argument(help="A JSON file that lob learn or LatentOrders.save wrote.")
    ],
    plot: Annotated[
        Path | None, typer.Option(help="Save a picture of the orders: .png, .pdf or .svg.")
    ] = None,
) -> None:
    """Print the orders in a file, each arm by its name, the best first.

    Of orders learned from logs also how many users each state has; the largest state comes first.

    Example: lob show orders.json --plot orders.png
    """
    from rich.console import Console

    from lobandits.cli.states import states_table, summary
    from lobandits.cli.values import PICTURES, checked_suffix, save_picture
    from lobandits.learning import OrderModel

    if plot is not None:
        checked_suffix("--plot", plot, PICTURES)
    console = Console(highlight=False)
    saved = _load(orders)
    if isinstance(saved, OrderModel):
        console.print(states_table(saved.orders, saved.sizes.tolist()))
        console.print(summary(saved))
    else:
        console.print(states_table(saved))
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(saved.plot(), plot)}")


def _load(path: Path) -> "OrderModel | LatentOrders":
    from lobandits._files import read_json
    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders
    from lobandits.orders.latent import MODEL_FORMAT

    data = read_json(path)
    learned = isinstance(data, dict) and data.get("format") == MODEL_FORMAT
    return OrderModel.load(path) if learned else LatentOrders.load(path)
