"""``lob data``: MovieLens ratings, downloaded."""

from pathlib import Path
from typing import Annotated

import typer

LICENCE = """\
The data belong to GroupLens, University of Minnesota, and come with their own licence: read the
README in the zip, and cite Harper and Konstan (2015), The MovieLens Datasets."""


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
    from lobandits.paper.movielens.download import default_folder
    from lobandits.paper.movielens.editions import EDITIONS

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

    from lobandits.paper.movielens.download import download_movielens
    from lobandits.paper.movielens.editions import edition

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
