"""``lob learn``: orders from logs."""

from pathlib import Path
from typing import Annotated

import typer

from lobandits.cli.options import ShowBar
from lobandits.cli.orders_table import OrdersPlot, print_orders
from lobandits.cli.outputs import checked_suffix, save_picture

EXAMPLES = """
**Examples**

Twenty orders of genres from ratings, to a file for `lob show` and `lob serve`:

    lob learn ratings.csv --user userId --arm genre --reward rating --states 20 --out orders.json

Many files, without rare arms and users of whom little is known:

    lob learn "logs/*.parquet" --min-arm-rewards 200 --min-user-rewards 50 --out orders.json

Partial orders that hold only what the users support statistically:

    lob learn logs.csv --states 8 --relations confident --out orders.json
"""


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
    plot: OrdersPlot = None,
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
    print_orders(model, brief=True)
    if out is not None:
        model.save(out)
        typer.echo(f"orders saved to {out}")
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(model.plot(), plot)}")
