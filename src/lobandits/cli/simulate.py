"""``lob demo``, ``simulate``, ``reproduce`` and ``data``: policies compared, and the paper."""

from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lobandits.cli import (
    Seed,
    ShowBar,
    Workers,
    checked_suffix,
    parse_pair,
    policy_names,
    save_picture,
)
from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from lobandits.experiments import Reproduction

INTRODUCTION = """\
Each of {users} users has 15 possible preference orders of 15 arms, and lives by one of them.
ucb and ts know nothing of this. toparms and all lob policies know the orders, mucb and mts also
every mean. First use compiles, which takes some seconds.
"""
SIMULATE_EXAMPLES = """
**Examples**

The paper's synthetic task, with a table, the raw numbers and a picture:

    lob simulate --policies ucb,ts,lobts --users 200 --out result.parquet --plot regret.png

How much is lost by projecting every tenth round only:

    lob simulate --policies "lobts,lobts(project_every=10)"

Policies see only 60% of the order's relations:

    lob simulate --policies ucb,lobucb,lobts -q 0.6

Users agree on the order and disagree on every number; latent bandits (mts) now believe wrong means:

    lob simulate --policies mts,lobts --scale 0.5,2 --shift=-3,3

A hundred thousand users, keeping only means and standard errors:

    lob simulate --policies lobts --users 100000 --keep mean
"""
REPRODUCE_EXAMPLES = """
**Examples**

Everything, at a size that takes some minutes:

    lob reproduce

One figure, and the verdicts on all claims:

    lob reproduce figure-3a claims

The paper's sizes, on MovieLens itself:

    lob reproduce --full --movielens ml-20m.zip --out full
"""
BROKEN = 1
"""Exit code if an experiment broke."""
LICENCE = """\
The data belong to GroupLens, University of Minnesota, and come with their own licence: read the
README in the zip, and cite Harper and Konstan (2015), The MovieLens Datasets."""


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


def simulate(
    arms: Annotated[int, typer.Option(help="Number of arms, k.")] = 15,
    states: Annotated[int, typer.Option(help="Number of latent states, m, for each user.")] = 15,
    sigma: Annotated[float, typer.Option(help="Standard deviation of the rewards' noise.")] = 1.0,
    gamma: Annotated[float, typer.Option(help="Gap between neighbours in the order.")] = 1.0,
    q: Annotated[
        float, typer.Option("-q", "--q", help="Share of the order's relations that policies see.")
    ] = 1.0,
    scale: Annotated[
        str | None,
        typer.Option(metavar="LOW,HIGH", help="Draw a factor for each user's means."),
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(metavar="LOW,HIGH", help="Draw a shift for each user's means."),
    ] = None,
    rewards: Annotated[
        str, typer.Option(help="gaussian, clipped (like ratings) or bernoulli.")
    ] = "gaussian",
    policies: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Policies to compare, separated by commas: ucb, ts, mucb, mts, lobucb, lobts, "
            "toparms, lobimed, lobids, or all. Options go in brackets: lobts(project_every=10).",
        ),
    ] = "ucb,ts,lobucb,lobts",
    horizon: Annotated[int, typer.Option(help="Rounds for each user, T.")] = 500,
    users: Annotated[int, typer.Option(help="Number of users.")] = 200,
    seed: Annotated[int, typer.Option(help="Names all random numbers; same seed, same table.")] = 0,
    workers: Workers = None,
    keep: Annotated[
        str, typer.Option(help="all: every user and round; mean: means and errors, less memory.")
    ] = "all",
    bound: Annotated[
        bool, typer.Option("--bound", help="Compare with the asymptotic lower bound c log T.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Save the result: a .parquet or .npz file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Save a picture of the regret: .png, .pdf or .svg.")
    ] = None,
    progress: ShowBar = True,
) -> None:
    """Compare policies on the paper's synthetic task: mean cumulative regret, lower is better.

    Each user has m random orders of k arms and lives in one of them; the arm at rank j earns
    gamma (k - j) on average. lob policies know the orders, m policies (mucb, mts) also the means,
    ucb and ts neither. All policies meet the same users and the same noise.
    """
    from lobandits.simulation import Synthetic
    from lobandits.simulation import simulate as run

    checked_suffix("--out", out, (".parquet", ".npz"))
    checked_suffix("--plot", plot)
    env = Synthetic(
        n_arms=arms,
        n_states=states,
        sigma=sigma,
        gamma=gamma,
        q=q,
        scale=parse_pair("--scale", scale),
        shift=parse_pair("--shift", shift),
        rewards=rewards,
    )
    result = run(
        env, policy_names(policies), horizon, users, seed,
        workers=workers, progress=progress, keep=keep,  # type: ignore[arg-type]
    )  # fmt: skip
    typer.echo(str(result.summary(bound=bound)))
    if out is not None:
        typer.echo(f"\nresult saved to {result.save(out)}")
    if plot is not None:
        typer.echo(f"\nfigure saved to {save_picture(result.plot(bound=bound), plot)}")


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="What to reproduce, see --list; by default everything."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="The paper's sizes.")] = False,
    movielens: Annotated[
        Path | None,
        typer.Option(help="Folder or zip of a MovieLens edition; else ratings are generated."),
    ] = None,
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
    from lobandits.experiments import reproduce as run

    if show_list:
        _print_list()
        return
    try:
        with _cluster(dask) as (executor, n_workers):
            found = run(
                names or (),
                size="full" if full else "default",
                seed=seed,
                movielens=movielens,
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
        raise LobInputError("--dask needs more: pip install 'lobandits[cluster]'") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise LobInputError(f"no Dask cluster answers at {address}: {error}") from None
    with client:
        yield client.get_executor(), sum(client.nthreads().values()) or None


def _print_list() -> None:
    from lobandits.experiments import EXPERIMENTS, GROUPS

    wide = max(map(len, EXPERIMENTS))
    for name, experiment in EXPERIMENTS.items():
        typer.echo(f"{name:<{wide}}  {experiment.place}: {experiment.title}")
    typer.echo("\nGroups:")
    for name, members in GROUPS.items():
        what = "the verdicts on all claims, without figures" if name == "claims" else ""
        typer.echo(f"{name:<{wide}}  {what or ', '.join(members)}")


def _print_verdicts(found: "Reproduction") -> None:
    from lobandits.experiments.claims import VERDICTS

    for finding in found.findings:
        variant = f" ({finding.variant})" if finding.variant else ""
        typer.echo(f"{finding.verdict:<24}{finding.claim.id}{variant}")
    counts = Counter(finding.verdict for finding in found.findings)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    data = f" Real-data figures: {found.facts['data']}." if found.facts else ""
    if counts:
        typer.echo(f"\n{total}.{data}")
    typer.echo(f"Report: {found.folder / 'index.html'}")


def data(
    name: Annotated[
        str | None, typer.Argument(help="What to download, such as movielens-20m.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where to keep it; by default lobandits in your cache folder."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="LOB_MOVIELENS_URL", help="Address of a copy of GroupLens' folder of zips."
        ),
    ] = None,
) -> None:
    """Download MovieLens ratings; without a name, list what there is.

    A download that was interrupted goes on where it stopped. The file is checked before it gets
    its name, and is not downloaded twice.
    """
    from lobandits.learning.movielens.download import default_folder
    from lobandits.learning.movielens.editions import EDITIONS

    folder = default_folder() if folder is None else folder
    if name is not None:
        _download(name, folder, url)
        return
    for edition, (file, content, size) in EDITIONS.items():
        there = "  here" if (folder / file).is_file() else ""
        typer.echo(f"{edition:<23} {size:>6}  {content}{there}")
    typer.echo(f"\nfolder: {folder}\n\n{LICENCE}")


def _download(name: str, folder: Path, url: str | None) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    from lobandits.learning.movielens.download import download_movielens
    from lobandits.learning.movielens.editions import edition

    there = (folder / edition(name).file).is_file()
    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bar:
        task = bar.add_task("", total=None)
        path = download_movielens(
            name, folder, url, lambda done, total: bar.update(task, completed=done, total=total)
        )
    typer.echo(f"{'already there' if there else 'saved'}: {path}")
    if not there:
        typer.echo(LICENCE)
    typer.echo(f"\nIn Python: lob.load_movielens({str(path)!r})")
