"""What was learned from logs, in words and numbers for a person."""

from math import isnan
from typing import TYPE_CHECKING

import typer

from lobandits.cli.orders_table import print_orders

if TYPE_CHECKING:
    from rich.table import Table

    from lobandits.learning import OrderModel, RewardTable

GIVEN = "The number of states was given; --states auto tells whether they beat one state."
SOURCES = {
    "given": "given",
    "cells": "from repeated rewards of a user and arm",
    "model": "as a parameter of the model, as few users tried an arm twice",
}


def print_learned(model: "OrderModel", table: "RewardTable") -> None:
    """Print what ``lob learn`` found: the logs, the choice of states, the states, a verdict."""
    from rich.console import Console

    console = Console(highlight=False)
    if model.prior is None:
        print_orders(model, brief=True)
        console.print(_facts(model, table))
        return
    console.print(_facts(model, table))
    _print_choice(model)
    typer.echo(f"\n{model.prior}\n")
    if not model.orders.is_total:
        print_orders(model, brief=True)
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
    if logs is not None:
        table.add_row("rewards per user", _rewards_per_user(logs))
    table.add_row("states", f"{model.orders.n_states}")
    if model.prior is None:
        table.add_row("merged states", f"{model.merged}")
        table.add_row("imputed means", f"{model.imputed_share:.1%}")
    table.add_row("estimated sigma", _sigma(model))
    return table


def _rewards_per_user(logs: "RewardTable") -> str:
    import numpy as np

    rewards = logs.counts.sum(axis=1)
    return f"{np.median(rewards):,.0f} (median), {rewards.min():,} (least)"


def _sigma(model: "OrderModel") -> str:
    if isnan(model.sigma):
        return "unknown (no user tried an arm twice)"
    return f"{model.sigma:.4g}, {SOURCES[model.sigma_from]}"
