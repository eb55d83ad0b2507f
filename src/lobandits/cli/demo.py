"""``lob demo``: every policy on the paper's synthetic task."""

from pathlib import Path
from typing import Annotated

import typer

from lobandits.cli.options import Seed
from lobandits.cli.outputs import checked_suffix, save_picture

INTRODUCTION = """\
Each of {users} users has 15 possible preference orders of 15 arms, and lives by one of them.
ucb and ts know nothing of this. toparms and all lob policies know the orders, mucb and mts also
every mean. First use compiles, which takes some seconds.
"""


def demo(
    users: Annotated[int, typer.Option(help="Number of users.")] = 200,
    seed: Seed = 0,
    plot: Annotated[Path, typer.Option(help="Where the figure goes: .png, .pdf or .svg.")] = Path(
        "out/demo.png"
    ),
) -> None:
    """Run every policy on the synthetic task (15 arms, 15 states, 500 rounds): table and figure.

    The table has mean cumulative regret, lower is better, and compares it with the asymptotic
    lower bound c log T for policies that know only the orders.
    """
    from lobandits.policies import POLICIES
    from lobandits.simulation import Synthetic, simulate

    if plot.parent == Path("out"):
        plot.parent.mkdir(exist_ok=True)
    checked_suffix("--plot", plot)
    typer.echo(INTRODUCTION.format(users=users))
    result = simulate(Synthetic(), list(POLICIES), horizon=500, n_users=users, seed=seed)
    typer.echo(str(result.summary(bound=True)))
    typer.echo(f"\nfigure saved to {save_picture(result.plot(bound=True), plot)}")
