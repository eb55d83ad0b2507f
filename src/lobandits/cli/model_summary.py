"""What was learned from logs, in words and numbers for a person."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from lobandits.learning import OrderModel, RewardTable
    from lobandits.orders import LatentOrders
    from lobandits.priors import Prior

DRAWN = 4000  # users drawn from a prior, to see how they differ
GIVEN = "The number of states was given; --states auto tells whether they beat one state."
SOURCES = {
    "given": "given",
    "cells": "from repeated rewards of a user and arm",
    "model": "as a parameter of the model, as few users tried an arm twice",
}
MOST_SHOWN = 20
OTHER_COLUMNS = 36
OrdersPlot = Annotated[
    Path | None, typer.Option(help="Save a picture of the orders: .png, .pdf or .svg.")
]


def print_learned(
    model: "OrderModel", table: "RewardTable", columns: tuple[str, str] = ("user", "arm")
) -> None:
    """Print what ``lob learn`` found: the logs, the choice of states, the states, a verdict.

    ``columns`` are those of users and arms, for warnings.
    """
    from rich.console import Console

    from lobandits.learning.concerns import concerns

    console = Console(highlight=False)
    if model.prior is None:
        print_orders(model, brief=True)
    console.print(_facts(model, table))
    if model.prior is not None:
        _print_choice(model)
        typer.echo(f"\n{model.prior}\n")
        if not model.orders.is_total:
            print_orders(model, brief=True)
    for sentence in concerns(table, model.sigma_from, *columns):
        typer.echo(f"warning: {sentence}")
    if model.prior is not None:
        typer.echo(GIVEN if model.curve is None else model.curve.verdict)


def print_saved(model: "OrderModel") -> None:
    """Print what ``lob show`` finds in the file of a model."""
    from rich.console import Console

    print_orders(model, brief=False)
    Console(highlight=False).print(_facts(model))
    if model.prior is not None:
        _print_choice(model)
        typer.echo(f"\n{model.prior}")
    if model.curve is not None:
        typer.echo(f"\n{model.curve.verdict}")


def _print_choice(model: "OrderModel") -> None:
    if model.curve is not None:
        typer.echo(f"\nlog evidence of held-out users, in nats per user\n{model.curve}")


def _facts(model: "OrderModel", logs: "RewardTable | None" = None) -> "Table":
    from rich.table import Table

    table = Table(box=None, show_header=False)
    table.add_row("users", f"{model.n_users:,}")
    table.add_row("arms", f"{model.orders.n_arms}")
    if contexts := model.orders.contexts:
        table.add_row("contexts", ", ".join(contexts))
    if logs is not None:
        table.add_row("rewards per user", _rewards_per_user(logs))
        if logs.skipped:
            table.add_row("rows without a reward", f"{logs.skipped:,}, skipped")
    table.add_row("states", f"{model.orders.n_states}")
    if model.prior is None:
        table.add_row("merged states", f"{model.merged}")
        table.add_row("imputed means", f"{model.imputed_share:.1%}")
    table.add_row("estimated sigma", _sigma(model))
    if model.prior is not None:
        for name, value in _of_users(model.prior).items():
            table.add_row(name, value)
    return table


def _of_users(prior: "Prior") -> dict[str, str]:
    """Return how users differ from each other and from their state, as the prior sees them."""
    import numpy as np

    popular = int(prior.population_mean.argmax())
    _, means = prior.draw(DRAWN, 0)
    others = float((means.argmax(axis=1) != popular).mean())
    scale = float(np.sqrt(prior.shares @ prior.scales**2))
    facts = {
        "personal scales": f"+- {scale:.0%} of a state's differences between arms",
        "personal shifts": f"+- {prior.shift:.3g} on all arms alike",
        "another best arm": f"{others:.0%} of users like another arm best than the most popular, "
        f"{prior.arms[popular]}",
    }
    kept = prior.kept_order()
    if not np.isnan(kept).all():
        share = np.nansum(prior.shares * kept) / prior.shares[~np.isnan(kept)].sum()
        facts["kept order"] = f"users rank {share:.0%} of pairs as their state does (chance: 50%)"
    return facts


def _rewards_per_user(logs: "RewardTable") -> str:
    import numpy as np

    rewards = logs.counts.sum(axis=1)
    return f"{np.median(rewards):,.0f} (median), {rewards.min():,} (least)"


def _sigma(model: "OrderModel") -> str:
    if isnan(model.sigma):
        return "unknown (no user tried an arm twice)"
    return f"{model.sigma:.4g}, {SOURCES[model.sigma_from]}"


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
