"""``lob learn``: states of users, their prior and orders, from logs."""

from pathlib import Path
from typing import Annotated

import typer

from lobandits._progress import spinner
from lobandits.cli.model_summary import print_learned
from lobandits.cli.options import ShowBar
from lobandits.cli.orders_table import OrdersPlot
from lobandits.cli.outputs import checked_suffix, save_picture
from lobandits.errors import LobInputError

EXAMPLES = """
**Examples**

States of users by their ratings of genres, to a file for `lob show` and `lob serve`:

    lob learn ratings.csv --user userId --arm genre --reward rating --out model.json

Many files, without rare arms and users of whom little is known:

    lob learn "logs/*.parquet" --min-arm-rewards 200 --min-user-rewards 50 --out model.json

Twenty orders, clustered as in the paper:

    lob learn logs.csv --method kendall --states 20 --out orders.json
"""


def learn(
    logs: Annotated[
        list[str],
        typer.Argument(help="CSV or Parquet files, a folder or a glob of them; a row is a reward."),
    ],
    user: Annotated[str, typer.Option(help="The column of users.")] = "user",
    arm: Annotated[str, typer.Option(help="The column of arms.")] = "arm",
    reward: Annotated[str, typer.Option(help="The column of rewards.")] = "reward",
    states: Annotated[
        str, typer.Option(help="Number of states, m; auto: chosen on held-out users.")
    ] = "auto",
    method: Annotated[
        str,
        typer.Option(help="prior: states with their shares and spread; kendall: the paper's."),
    ] = "prior",
    centroid: Annotated[
        str,
        typer.Option(help="With kendall: mean, order of the members' average; or borda."),
    ] = "mean",
    relations: Annotated[
        str,
        typer.Option(help="total orders, or confident: partial ones, of supported relations only."),
    ] = "total",
    level: Annotated[
        float,
        typer.Option(
            help="With confident: share of a state's users for whom a relation may fail; with "
            "kendall the chance of an unsupported relation in a state."
        ),
    ] = 0.05,
    min_user_rewards: Annotated[
        int, typer.Option(help="Drop users with fewer rewards, after the arms.")
    ] = 1,
    min_arm_rewards: Annotated[
        int, typer.Option(help="Drop arms with fewer rewards, before the users.")
    ] = 1,
    starts: Annotated[
        int, typer.Option(help="With kendall: cluster from so many starts, and keep the best.")
    ] = 4,
    seed: Annotated[
        int, typer.Option(help="Names all random numbers; same seed, same orders.")
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Save the model: a .json file.")] = None,
    plot: OrdersPlot = None,
    progress: ShowBar = True,
) -> None:
    """Learn the latent states of users from logs of (user, arm, reward).

    By default a prior: how common each state is, its means and order, and how its users differ.
    Evidence on held-out users chooses the number of states, and one state is a possible answer.
    The file holds no user.
    """
    from lobandits.learning import learn_orders, reward_table

    checked_suffix("--out", out, (".json",))
    checked_suffix("--plot", plot)
    n_states = _n_states(states)
    with spinner(progress, "adding up rewards"):
        table = reward_table(
            logs, user, arm, reward,
            min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards,
        )  # fmt: skip
    model = learn_orders(
        table, n_states=n_states, method=method,  # type: ignore[arg-type]
        centroid=centroid, relations=relations, level=level,  # type: ignore[arg-type]
        n_init=starts, seed=seed, progress=progress,
    )  # fmt: skip
    print_learned(model, table)
    if out is not None:
        model.save(out)
        typer.echo(f"model saved to {out}")
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(model.plot(), plot)}")


def _n_states(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdecimal():
        raise LobInputError(f"--states must be auto or a number of states, got {text!r}")
    return int(text)
