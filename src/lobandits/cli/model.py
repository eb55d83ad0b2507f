"""The commands ``lob model put`` and ``lob model show``: what a store's servers decide with."""

from pathlib import Path
from typing import Annotated

import typer

from lobandits.cli.friendly import friendly

model = typer.Typer(
    no_args_is_help=True, help="Change or show the model that a store's servers decide with."
)

Store = Annotated[
    str, typer.Option(help="sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE.")
]


def put(
    orders: Annotated[Path, typer.Option(help="The states' orders: JSON.")],
    policy: Annotated[
        str, typer.Option(help="The policy, options in brackets: ts(prior_std=10).")
    ] = "lobts",
    sigma: Annotated[
        float | None,
        typer.Option(help="Standard deviation of the rewards; by default the file's, or 1.0."),
    ] = None,
    store: Store = "sqlite:///lob.db",
) -> None:
    """Serve other orders or another policy; running servers follow within a second.

    Statistics belong to the names of arms, so arms may be added, removed and reordered. Decisions
    of earlier models accept their rewards as before.
    """
    from lobandits.cli.service import need_service, read_policy

    need_service()
    from lobandits.service import DecisionService

    with DecisionService(read_policy(orders, policy, sigma), store) as service:
        typer.echo(f"model {service.model}: {service.policy!r}")


def show(store: Store = "sqlite:///lob.db") -> None:
    """Show the model that a store's servers decide with."""
    from lobandits.cli.service import existing, need_service

    need_service()
    from lobandits.service import DecisionService

    with DecisionService(None, existing(store)) as service:
        typer.echo(f"model {service.model}: {service.policy!r}")
        typer.echo(f"arms: {', '.join(service.policy.arms)}")
        orders = getattr(service.policy, "orders", None)
        if orders is not None:
            typer.echo(f"\n{orders}")


model.command("put")(friendly(put))
model.command("show")(friendly(show))
