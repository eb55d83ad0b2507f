"""What was learned from logs, in words and numbers for a person."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lobandits.cli.feature_summary import feature_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from lobandits.basics.checks import FloatArray
    from lobandits.beliefs import Prior
    from lobandits.learning import Model, RewardTable

CELLS_DRAWN = 2_000_000  # users x arms drawn from a prior, at most, to see how users differ
USERS_DRAWN = 4000
LOADINGS, LIFTED = 4, 3  # shown, and arms named at either end of one
GIVEN = "The number of states was given; --states auto tells whether they beat one state."
SOURCES = {
    "given": "given",
    "cells": "from repeated rewards of a user and arm",
    "model": "as a parameter of the model, as few users tried an arm twice",
}
OrdersPlot = Annotated[
    Path | None, typer.Option(help="Save a picture of the orders: .png, .pdf or .svg.")
]


def print_learned(
    model: "Model",
    table: "RewardTable",
    columns: tuple[str, str] = ("user", "arm"),
    of_features: "Sequence[str]" = (),
) -> None:
    """Print what ``lob learn`` found: the logs, the choice of states, the states, a verdict.

    ``columns`` are those of users and arms, for warnings; ``of_features`` are further ones.
    """
    from lobandits.learning.concerns import concerns

    print_saved(model, table)
    of_logs = concerns(table, model.sigma_from, *columns, model.likelihood.name)
    for sentence in (*of_logs, *of_features):
        typer.echo(f"warning: {sentence}")
    typer.echo(GIVEN if model.curve is None else model.curve.verdict)


def print_saved(model: "Model", logs: "RewardTable | None" = None) -> None:
    """Print what is in a model: facts, the choice of states, its prior, what users differ by."""
    from rich.console import Console

    Console(highlight=False).print(_facts(model, logs))
    if model.curve is not None:
        typer.echo(f"\nlog evidence of held-out users, in nats per user\n{model.curve}")
    typer.echo(f"\n{model.prior}\n")
    for line in (*loading_words(model.prior), *feature_words(model.prior)):
        typer.echo(line)
    if logs is None and model.curve is not None:
        typer.echo(f"\n{model.curve.verdict}")


def _facts(model: "Model", logs: "RewardTable | None") -> "Table":
    from rich.table import Table

    from lobandits.orders.contexts import contexts_of

    table = Table(box=None, show_header=False)
    table.add_row("users", f"{model.n_users:,}")
    table.add_row("arms", f"{len(model.arms):,}")
    if contexts := contexts_of(model.arms):
        table.add_row("contexts", ", ".join(contexts))
    if logs is not None:
        table.add_row("rewards per user", _rewards_per_user(logs))
        if logs.skipped:
            table.add_row("rows without a reward", f"{logs.skipped:,}, skipped")
    table.add_row("states", f"{model.prior.n_states}")
    table.add_row("rewards", _rewards(model))
    for name, value in _of_users(model.prior).items():
        table.add_row(name, value)
    return table


def _rewards(model: "Model") -> str:
    """Return how rewards come: their noise, or their rates."""
    kind, rates = model.likelihood.name, model.prior.population_mean
    if kind == "gaussian":
        return f"gaussian, sigma {model.sigma:.4g}, {SOURCES[model.sigma_from]}"
    low, high = (f"{100 * r:.3g} %" if kind == "bernoulli" else f"{r:.3g}" for r in
                 (rates.min(), rates.max()))  # fmt: skip
    return f"{kind}, arms' rates from {low} to {high}"


def _of_users(prior: "Prior") -> dict[str, str]:
    """Return how users differ from each other and from their state, as the prior sees them."""
    popular = int(prior.population_mean.argmax())
    _, means = prior.draw(max(100, min(USERS_DRAWN, CELLS_DRAWN // prior.n_arms)), 0)
    others = float((means.argmax(axis=1) != popular).mean())
    scale = float((prior.shares @ prior.scales**2) ** 0.5)
    return {
        "personal scales": f"+- {scale:.0%} of a state's differences between arms",
        "another best arm": f"{others:.0%} of users like another arm best than the most popular, "
        f"{prior.arms[popular]}",
        "worth of the prior": f"{prior.worth:,.2g} rewards of an arm, until a user's own outweigh "
        "what past users tell of it",
    }


def loading_words(prior: "Prior") -> list[str]:
    r"""Return what users differ by together, the largest loading first: which arms go together.

    >>> import numpy as np
    >>> from lobandits.beliefs import Gaussian, Prior
    >>> shared = np.array([[0.5, 0.8], [0.5, 0.7], [0.5, -0.9]])
    >>> prior = Prior(list("abc"), [1.0], [[3, 2, 1]], shared, [0.1] * 3, [0.0], Gaussian(1.0))
    >>> print(*loading_words(prior), sep="\n")
    users differ by a level of their own, +- 0.5 on all arms
    and by tastes that go together:
      c against a, b (+- 0.8)
    """
    import numpy as np

    columns = prior.loadings.T
    if not len(columns):
        return ["users differ in each arm by itself only"]
    unit = {"bernoulli": " in log odds", "poisson": " in log rates"}.get(prior.likelihood.name, "")
    size = np.sqrt((columns**2).mean(axis=1))
    level = f"users differ by a level of their own, +- {size[0]:.2g}{unit} on all arms"
    largest = 1 + np.argsort(-size[1:], kind="stable")
    tastes = [f"  {_ends(columns[j], prior.arms)} (+- {size[j]:.2g}{unit})" for j in largest]
    more = [f"  and {len(tastes) - LOADINGS} smaller"] if len(tastes) > LOADINGS else []
    head = ["and by tastes that go together:"] if tastes else []
    return [level, *head, *tastes[:LOADINGS], *more]


def _ends(column: "FloatArray", arms: tuple[str, ...]) -> str:
    """Return the arms that a loading moves most: those with its largest entry, then the others."""
    column = column if column.max() >= -column.min() else -column
    order = column.argsort(kind="stable").tolist()
    up = [arms[a] for a in order[::-1][:LIFTED] if column[a] > 0]
    down = [arms[a] for a in order[:LIFTED] if column[a] < 0]
    return " against ".join(", ".join(end) for end in (up, down) if end)


def _rewards_per_user(logs: "RewardTable") -> str:
    import numpy as np

    rewards = logs.counts.sum(axis=1)
    return f"{np.median(rewards):,.0f} (median), {rewards.min():,.3g} (least)"
