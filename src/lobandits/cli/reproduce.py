"""``lob reproduce``: the paper's experiments, figures and claims."""

from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lobandits.cli.options import Seed, Workers
from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from lobandits.paper import Reproduction

EXAMPLES = """
**Examples**

Everything, at a size that takes some minutes:

    lob reproduce

One figure, and the verdicts on all claims:

    lob reproduce figure-3a claims

More users and values of the sweeps, on MovieLens itself:

    lob reproduce --full --movielens ml-20m.zip --out full

What was undecided, with more users and more draws of genres and clusterings:

    lob reproduce figure-3a --movielens ml-latest-small --users 100 --seeds 20
"""
BROKEN = 1
"""Exit code if an experiment broke."""


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="What to reproduce, see --list; by default everything."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="More users, and more values in the sweeps.")
    ] = False,
    users: Annotated[
        int | None,
        typer.Option(
            help="Users of every simulation, on ratings for each seed; by default 300 and 20, "
            "with --full 1000 and 100."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(help="On ratings: draws of genres, clusterings and users; by default 5."),
    ] = None,
    movielens: Annotated[
        Path | None,
        typer.Option(help="Folder or zip of a MovieLens edition; else ratings are generated."),
    ] = None,
    generated: Annotated[
        str,
        typer.Option(
            help="Generated ratings: planted (60 orders, as the policies under test assume) or "
            "gaussian (no states)."
        ),
    ] = "planted",
    workers: Workers = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster: tcp://...")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder of the report; finished parts there are not run again.")
    ] = Path("reproduction"),
    seed: Seed = 0,
    show_list: Annotated[
        bool, typer.Option("--list", help="List what can be reproduced, and stop.")
    ] = False,
    progress: Annotated[bool, typer.Option(help="Show progress bars, if there is a terminal.")] = (
        True
    ),
) -> None:
    """Reproduce the paper: run its experiments, draw its figures, test its claims.

    Writes a report, index.html, with a verdict on every claim: holds, does not hold, undecided at
    this size, or not testable here. A run that was stopped goes on where it was.
    """
    from lobandits.paper import reproduce as run

    if show_list:
        _print_list()
        return
    try:
        with _cluster(dask) as (executor, n_workers):
            found = run(
                names or (),
                size="full" if full else "default",
                seed=seed,
                users=users,
                seeds=seeds,
                movielens=movielens,
                generated=generated,  # type: ignore[arg-type]
                workers=n_workers if workers is None else workers,
                executor=executor,
                out=out,
                progress=progress,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"finished parts are kept in {out}; the same command goes on from there"
        ) from None
    _print_verdicts(found)
    if found.broken:
        for outcome in found.broken:
            typer.echo(f"broken: {outcome.experiment.name}: {outcome.broken}", err=True)
        raise typer.Exit(BROKEN)


@contextmanager
def _cluster(address: str | None) -> "Iterator[tuple[Executor | None, int | None]]":
    """Yield the executor of a Dask cluster, and its number of threads."""
    if address is None:
        yield None, None
        return
    try:
        from distributed import Client
    except ImportError:
        raise LobInputError("--dask needs more: pip install '.[cluster]'") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise LobInputError(f"no Dask cluster answers at {address}: {error}") from None
    with client:
        yield client.get_executor(), sum(client.nthreads().values()) or None


def _print_list() -> None:
    from lobandits.paper import EXPERIMENTS, GROUPS

    wide = max(map(len, EXPERIMENTS))
    for name, experiment in EXPERIMENTS.items():
        typer.echo(f"{name:<{wide}}  {experiment.place}: {experiment.title}")
    typer.echo("\nGroups:")
    for name, members in GROUPS.items():
        what = "the verdicts on all claims, without figures" if name == "claims" else ""
        typer.echo(f"{name:<{wide}}  {what or ', '.join(members)}")


def _print_verdicts(found: "Reproduction") -> None:
    from lobandits.paper.claims import VERDICTS

    for finding in found.findings:
        variant = f" ({finding.variant})" if finding.variant else ""
        typer.echo(f"{finding.verdict:<24}{finding.claim.id}{variant}")
    counts = Counter(finding.verdict for finding in found.findings)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    data = f" Real-data figures: {found.facts['data']}." if found.facts else ""
    if counts:
        typer.echo(f"\n{total}.{data}")
    typer.echo(f"Report: {found.folder / 'index.html'}")
