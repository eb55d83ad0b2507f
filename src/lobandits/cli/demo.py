"""``lob demo``: what past users are worth to a new one."""

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from lobandits.cli.options import Seed, checked_suffix, save_picture

if TYPE_CHECKING:
    from lobandits.simulation import Result

POLICIES = ["popular", "ts", "mixts", "lobbayes"]
ROUNDS, PAST_USERS = 100, 400
INTRODUCTION = """\
{users} new users choose among 10 options, {rounds} times each. A user follows one of 6 preference
orders, with a scale and a level of their own: nobody knows which. {past} past users left a log of
60 random choices each. From it, popular learned the best seller, mixts and lobbayes the kinds of
users that there are; ts starts from nothing. First use compiles for up to a minute."""


def demo(
    users: Annotated[int, typer.Option(help="Number of new users.")] = 200,
    seed: Seed = 0,
    plot: Annotated[Path, typer.Option(help="Where the figure goes: .png, .pdf or .svg.")] = Path(
        "out/demo.png"
    ),
) -> None:
    """Show what logs of past users are worth to new ones: a table, a figure and a sentence.

    New users have scales and levels of their own. The table has mean cumulative regret, what was
    missed by not playing each user's best option: lower is better.
    """
    from lobandits.simulation import Synthetic, simulate

    if plot.parent == Path("out"):
        plot.parent.mkdir(exist_ok=True)
    checked_suffix("--plot", plot)
    words = INTRODUCTION.format(users=users, rounds=ROUNDS, past=PAST_USERS)
    typer.echo(f"{fill(words, 98)}\n")
    env = Synthetic(
        n_arms=10,
        n_states=6,
        sigma=2.0,
        scale=(0.25, 1.0),
        shift=(-3.0, 3.0),
        past_users=PAST_USERS,
    )
    result = simulate(env, POLICIES, horizon=ROUNDS, n_users=users, seed=seed)
    typer.echo(str(result.summary()).partition("\n")[2])  # the environment was said in words
    typer.echo(f"\n{fill(_sentence(result), 98)}")
    typer.echo(f"figure saved to {save_picture(result.plot(), plot)}")


def _sentence(result: "Result") -> str:
    """Return what the table says, in words."""
    regret = {row["policy"]: row["regret"] for row in result.summary().rows}
    ts, popular = (1 - regret["lobbayes"] / regret[name] for name in ("ts", "popular"))
    return (
        f"After {result.horizon} choices LobBayes has missed {_less(ts)} than TS, which starts "
        f"from nothing, and {_less(popular)} than always playing what most past users liked best."
    )


def _less(share: float) -> str:
    return f"{abs(share):.0%} {'less' if share >= 0 else 'more'}"
