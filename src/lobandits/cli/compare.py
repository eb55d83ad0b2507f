"""``lob compare``: does the model do better than its control group."""

import json
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lobandits.cli.options import (
    DEFAULT_PROBLEM,
    LOCAL,
    Problem,
    Store,
    existing,
    need_service,
)

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("users", "counted", "decisions", "rewards", "per_decision", "per_user", "mean")


def compare(
    store: Store = LOCAL,
    problem: Problem = DEFAULT_PROBLEM,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what GET /v1/comparison answers.")
    ] = False,
) -> None:
    """Compare the users of the model with those of the control group of lob serve --control.

    The difference has a band that holds at all times together: look as often as you like, and
    stop when it is clear of 0. Also says what an apprentice (--apprentice) would have changed.
    Servers may run meanwhile.
    """
    need_service()
    from lobandits.service import open_store
    from lobandits.service.observers.control_group import comparison_report
    from lobandits.service.store.models import StoredNames

    with closing(open_store(existing(store))) as opened:
        report = comparison_report(opened, StoredNames(opened), problem)
    if as_json:
        typer.echo(json.dumps(report, indent=2))
        return
    if report["control"] is None and report["advice"] is None:
        typer.echo("no control group and no apprentice; lob serve has --control and --apprentice")
    if report["control"] is not None:
        _print_comparison(report)
    if report["advice"] is not None:
        _print_advice(report["advice"])


def _print_comparison(report: dict[str, Any]) -> None:
    from rich.console import Console

    control, difference = report["control"], report["difference"]
    typer.echo(
        f"control: {control['policy']} for {control['share']:.3g} of users, since "
        f"{control['since'][:19]} UTC"
    )
    Console(highlight=False).print(_groups_table(report["groups"]))
    if difference["estimate"] is not None:
        lift = difference["lift"]
        relative = "" if lift is None else f" ({lift:+.1%} of the control's mean)"
        typer.echo(f"difference, model minus control: {difference['estimate']:+.4g}{relative}")
    if difference["low"] is not None:
        sure = 1 - difference["alpha"]
        typer.echo(
            f"band, {sure:.0%} at all times: {difference['low']:+.4g} to {difference['high']:+.4g}"
        )
    typer.echo(f"verdict: {difference['verdict']}")
    typer.echo(report["assumption"])


def _groups_table(groups: dict[str, dict[str, Any]]) -> "Table":
    from rich.table import Table

    table = Table()
    for name in ("group", *COLUMNS):
        table.add_column(name.replace("_", " "), justify="left" if name == "group" else "right")
    for group, found in groups.items():
        table.add_row(group, *(_cell(found[name]) for name in COLUMNS))
    return table


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _print_advice(advice: dict[str, Any]) -> None:
    agreed, differed = (_cell(advice[name]["mean"]) for name in ("agreed", "differed"))
    typer.echo(
        f"apprentice: of {advice['decisions']:,} decisions it would have changed "
        f"{advice['changed']:.1%}; mean reward where it agreed {agreed}, where not {differed}"
    )
    for change in advice["changes"][:10]:
        typer.echo(f"  {change['shown']} -> {change['advised']}: {change['decisions']:,} times")
