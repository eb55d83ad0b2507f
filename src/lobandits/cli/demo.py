"""``lob demo``: every policy on the paper's synthetic task."""

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from lobandits.cli.options import Seed, checked_suffix, save_picture
from lobandits.cli.policies import playable

INTRODUCTION = """\
Each of {users} users has 15 possible preference orders of 15 arms, and lives by one of them. What
policies know: {known}. First use compiles, which takes some seconds."""
KNOWN = {"state_means": "every mean", "orders": "the orders", "n_arms": "nothing"}


def demo(
    users: Annotated[int, typer.Option(help="Number of users.")] = 200,
    seed: Seed = 0,
    plot: Annotated[Path, typer.Option(help="Where the figure goes: .png, .pdf or .svg.")] = Path(
        "out/demo.png"
    ),
) -> None:
    """Run policies on the synthetic task (15 arms, 15 states, 500 rounds): table and figure.

    These are all that need no past users; ``lob simulate --past-users`` has the others.

    The table has mean cumulative regret, lower is better, and compares it with the asymptotic
    lower bound c log T for policies that know only the orders.
    """
    from lobandits.simulation import Synthetic, simulate

    if plot.parent == Path("out"):
        plot.parent.mkdir(exist_ok=True)
    checked_suffix("--plot", plot)
    names = playable(prior=False)
    typer.echo(f"{fill(INTRODUCTION.format(users=users, known=_who_knows_what(names)), 98)}\n")
    result = simulate(Synthetic(), names, horizon=500, n_users=users, seed=seed)
    typer.echo(str(result.summary(bound=True)))
    typer.echo(f"\nfigure saved to {save_picture(result.plot(bound=True), plot)}")


def _who_knows_what(names: list[str]) -> str:
    """Return the policies by what they are told."""
    from lobandits.policies import POLICIES
    from lobandits.policies.registry import parameters_of

    groups: dict[str, list[str]] = {}
    for name in names:
        told = next(
            (what for key, what in KNOWN.items() if key in parameters_of(POLICIES[name])), "logs"
        )
        groups.setdefault(told, []).append(name)
    return "; ".join(f"{told} ({', '.join(names)})" for told, names in groups.items())
