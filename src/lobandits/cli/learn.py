"""``lob learn``: from logs to a file of orders."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lobandits.learning import OrderModel

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
    plot: Annotated[
        Path | None, typer.Option(help="Save a picture of the orders: .png, .pdf or .svg.")
    ] = None,
    progress: Annotated[
        bool, typer.Option(help="Show a progress bar, if there is a terminal.")
    ] = True,
) -> None:
    """Learn the orders of m latent states from logs of (user, arm, reward).

    Users are clustered by the order of their mean rewards, whatever scale each of them rewards
    on (k-means with Kendall's tau).
    """
    from lobandits.cli.values import PICTURES, checked_suffix, save_picture
    from lobandits.learning import learn_orders

    if out is not None:
        checked_suffix("--out", out, (".json",))
    if plot is not None:
        checked_suffix("--plot", plot, PICTURES)
    model = learn_orders(
        logs, user, arm, reward, states,
        centroid=centroid, relations=relations, level=level,  # type: ignore[arg-type]
        min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards,
        n_init=starts, seed=seed, progress=progress,
    )  # fmt: skip
    _print(model)
    if out is not None:
        model.save(out)
        typer.echo(f"orders saved to {out}")
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(model.plot(), plot)}")


def _print(model: "OrderModel") -> None:
    from rich.console import Console

    from lobandits.cli.states import MOST_SHOWN, states_table, summary

    console = Console(highlight=False)
    console.print(states_table(model.orders, model.sizes.tolist(), console.width))
    if model.orders.n_states > MOST_SHOWN:
        console.print(f"... and {model.orders.n_states - MOST_SHOWN} smaller states")
    console.print(summary(model))
