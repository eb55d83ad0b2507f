"""``lob learn`` and ``lob show``: from logs to a file of orders, a table and a picture."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lobandits.cli.shared import ShowBar, checked_suffix, save_picture

if TYPE_CHECKING:
    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders

MOST_SHOWN = 20
OTHER_COLUMNS = 36

EXAMPLES = """
**Examples**

Twenty orders of genres from ratings, to a file for `lob show` and `lob serve`:

    lob learn ratings.csv --user userId --arm genre --reward rating --states 20 --out orders.json

Many files, without rare arms and users of whom little is known:

    lob learn "logs/*.parquet" --min-arm-rewards 200 --min-user-rewards 50 --out orders.json

Partial orders that hold only what the users support statistically:

    lob learn logs.csv --states 8 --relations confident --out orders.json
"""

Plot = Annotated[
    Path | None, typer.Option(help="Save a picture of the orders: .png, .pdf or .svg.")
]


def learn(
    logs: Annotated[
        list[str],
        typer.Argument(help="CSV or Parquet files, a folder or a glob of them; a row is a reward."),
    ],
    user: Annotated[str, typer.Option(help="The column of users.")] = "user",
    arm: Annotated[str, typer.Option(help="The column of arms.")] = "arm",
    reward: Annotated[str, typer.Option(help="The column of rewards.")] = "reward",
    states: Annotated[int, typer.Option(help="Number of states, m.")] = 8,
    centroid: Annotated[
        str, typer.Option(help="mean: order of the members' average, as in the paper; or borda.")
    ] = "mean",
    relations: Annotated[
        str,
        typer.Option(help="total orders, or confident: partial ones, of supported relations only."),
    ] = "total",
    level: Annotated[
        float, typer.Option(help="With confident: chance of an unsupported relation in a state.")
    ] = 0.05,
    min_user_rewards: Annotated[
        int, typer.Option(help="Drop users with fewer rewards, after the arms.")
    ] = 1,
    min_arm_rewards: Annotated[
        int, typer.Option(help="Drop arms with fewer rewards, before the users.")
    ] = 1,
    starts: Annotated[
        int, typer.Option(help="Cluster from so many starts, and keep the best.")
    ] = 4,
    seed: Annotated[
        int, typer.Option(help="Names all random numbers; same seed, same orders.")
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Save the model: a .json file.")] = None,
    plot: Plot = None,
    progress: ShowBar = True,
) -> None:
    """Learn the orders of m latent states from logs of (user, arm, reward).

    Users are clustered by the order of their mean rewards, whatever scale each of them rewards
    on (k-means with Kendall's tau).
    """
    from lobandits.learning import learn_orders

    checked_suffix("--out", out, (".json",))
    checked_suffix("--plot", plot)
    model = learn_orders(
        logs, user, arm, reward, states,
        centroid=centroid, relations=relations, level=level,  # type: ignore[arg-type]
        min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards,
        n_init=starts, seed=seed, progress=progress,
    )  # fmt: skip
    _print(model, brief=True)
    if out is not None:
        model.save(out)
        typer.echo(f"orders saved to {out}")
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(model.plot(), plot)}")


def show(
    orders: Annotated[
        Path, typer.Argument(help="A JSON file that lob learn or LatentOrders.save wrote.")
    ],
    plot: Plot = None,
) -> None:
    """Print the orders in a file, each arm by its name, the best first.

    Of orders learned from logs also how many users each state has; the largest state comes first.

    Example: lob show orders.json --plot orders.png
    """
    from lobandits._files import read_json
    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders
    from lobandits.orders.latent import MODEL_FORMAT

    checked_suffix("--plot", plot)
    data = read_json(orders)
    learned = isinstance(data, dict) and data.get("format") == MODEL_FORMAT
    saved = OrderModel.load(orders) if learned else LatentOrders.load(orders)
    _print(saved, brief=False)
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(saved.plot(), plot)}")


def _print(saved: "OrderModel | LatentOrders", brief: bool) -> None:
    """Print a row for each state, the largest first, then what was learned.

    If ``brief``, only the ``MOST_SHOWN`` largest, each in one line of the terminal.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from lobandits.learning import OrderModel

    console = Console(highlight=False)
    model = saved if isinstance(saved, OrderModel) else None
    orders = saved.orders if isinstance(saved, OrderModel) else saved
    sizes = [] if model is None else model.sizes.tolist()
    states = list(range(orders.n_states))
    table = Table(show_lines=not brief)
    table.add_column("state", justify="right")
    if sizes:
        table.add_column("users", justify="right")
        table.add_column("share", justify="right")
        states.sort(key=lambda s: -sizes[s])
    table.add_column("order, best first", overflow="fold")
    room = max(console.width - OTHER_COLUMNS, 20)
    for s in states[: MOST_SHOWN if brief else None]:
        members = [f"{sizes[s]:,}", f"{sizes[s] / sum(sizes):.1%}"] if sizes else []
        text = str(orders[s])
        if brief and len(text) > room:
            text = text[: room - 1] + "…"
        table.add_row(str(s), *members, escape(text))
    console.print(table)
    if brief and len(states) > MOST_SHOWN:
        console.print(f"... and {len(states) - MOST_SHOWN} smaller states")
    if model is not None:
        unknown = "unknown (no user tried an arm twice)"
        summary = Table(box=None, show_header=False)
        summary.add_row("users", f"{model.n_users:,}")
        summary.add_row("arms", f"{orders.n_arms}")
        summary.add_row("states", f"{orders.n_states}")
        summary.add_row("merged states", f"{model.merged}")
        summary.add_row("imputed means", f"{model.imputed_share:.1%}")
        summary.add_row("estimated sigma", unknown if isnan(model.sigma) else f"{model.sigma:.4g}")
        console.print(summary)
