"""``lob model``: see, replace or take back the model that a store's servers decide with."""

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from lobandits.cli.friendly import friendly
from lobandits.cli.options import (
    DEFAULT_PROBLEM,
    LOCAL,
    HalfLife,
    ModelFile,
    OrdersFile,
    PolicyName,
    Problem,
    Sigma,
    Store,
    checked_suffix,
    existing,
    need_service,
    parse_values,
)
from lobandits.cli.policies import Import, import_policies
from lobandits.cli.saved_orders import read_policy
from lobandits.errors import LobInputError

model = typer.Typer(
    no_args_is_help=True, help="Change or show the model that a store's servers decide with."
)


@model.command("put")
@friendly
def put(
    model: ModelFile = None,
    orders: OrdersFile = None,
    policy: PolicyName = None,
    sigma: Sigma = None,
    half_life: HalfLife = None,
    imports: Import = None,
    store: Store = LOCAL,
    problem: Problem = DEFAULT_PROBLEM,
) -> None:
    """Serve another model, other orders or another policy; running servers follow within a second.

    Statistics belong to the names of arms, so arms may be added, removed and reordered. Decisions
    of earlier models accept their rewards as before. A problem begins with its first model.
    """
    need_service()
    import_policies(*imports or ())
    from lobandits.service import DecisionService

    served = read_policy(model, orders, policy, sigma, half_life)
    with DecisionService(served, store, problem=problem) as service:
        typer.echo(f"model {service.model}: {service.policy!r}")


@model.command("show")
@friendly
def show(store: Store = LOCAL, problem: Problem = DEFAULT_PROBLEM, imports: Import = None) -> None:
    """Show the model that a store's servers decide with."""
    need_service()
    import_policies(*imports or ())
    from lobandits.service import DecisionService

    with DecisionService(None, existing(store), problem=problem) as service:
        typer.echo(f"model {service.model}: {service.policy!r}")
        typer.echo(f"arms: {', '.join(service.policy.arms)}")
        known = getattr(service.policy, "prior", getattr(service.policy, "orders", None))
        if known is not None:
            typer.echo(f"\n{known}")


@model.command("list")
@friendly
def list_models(
    store: Store = LOCAL, problem: Problem = DEFAULT_PROBLEM, imports: Import = None
) -> None:
    """List every model that a store ever had, the newest first, and say which one decides."""
    need_service()
    import_policies(*imports or ())
    from lobandits.service import open_store
    from lobandits.service.current_model import listed_models

    with closing(open_store(existing(store))) as opened:
        for line in listed_models(opened, problem):
            typer.echo(f"{line.name:<16} {line.put:%Y-%m-%d %H:%M} {line.status:<12} {line.about}")


@model.command("add-arm")
@friendly
def add_arm(
    name: Annotated[str, typer.Argument(help="The new arm.")],
    out: Annotated[Path, typer.Option(help="Where the model with the arm goes: a .json file.")],
    model: ModelFile = None,
    orders: OrdersFile = None,
    like: Annotated[
        str | None,
        typer.Option(help="The arm that users like about as much."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="What is known of the arm, where the model was learned with --arm-features.",
        ),
    ] = None,
    epsilon: Annotated[
        float,
        typer.Option(help="Without both: its chance to beat the average user's best arm."),
    ] = 0.05,
) -> None:
    """Add an arm that no log has to a model's file, for lob model put.

    Like another arm: in every state it stands where that one stands, and users' own opinions of
    both go together. With features it starts where these say. Otherwise it is thought to beat the
    average user's best arm with a chance of epsilon, and no order speaks of it.
    """
    from lobandits.cli.saved_orders import load_known
    from lobandits.orders import LatentOrders

    checked_suffix("--out", out, (".json",))
    known = load_known(model, orders)
    if isinstance(known, LatentOrders):
        if features is not None:
            raise LobInputError("--features is for a model; orders know none, leave it out")
        grown: Any = known.with_arm(name, like)
    else:
        grown = known.with_arm(name, like, parse_values(features), epsilon)
    grown.save(out)
    typer.echo(f"model with {name} saved to {out}")


@model.command("rollback")
@friendly
def rollback(
    store: Store = LOCAL, problem: Problem = DEFAULT_PROBLEM, imports: Import = None
) -> None:
    """Serve the model before the newest again; running servers follow within a second.

    Works also where the newest model cannot be read, so that no server can start. Models before
    it that cannot be read are passed over.
    """
    need_service()
    import_policies(*imports or ())
    from lobandits.service import open_store
    from lobandits.service.current_model import rollback as go_back

    with closing(open_store(existing(store))) as opened:
        found = go_back(opened, problem)
    typer.echo(f"model {found.name}: {found.policy!r}")
