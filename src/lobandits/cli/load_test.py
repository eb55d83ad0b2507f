"""The command ``lob load-test``: how fast a running server answers."""

from typing import Annotated

import typer


def load_test(
    url: Annotated[str, typer.Option(help="Where the server is.")] = "http://127.0.0.1:8000",
    clients: Annotated[int, typer.Option(help="Connections that ask at the same time.")] = 16,
    seconds: Annotated[float, typer.Option(help="For how long.")] = 10.0,
    users: Annotated[int, typer.Option(help="Number of different users.")] = 10_000,
    processes: Annotated[int, typer.Option(help="Processes that the clients are spread over.")] = 1,
    seed: Annotated[int, typer.Option(help="Names the users and their rewards.")] = 0,
) -> None:
    """Ask a running server for decisions and report rewards, as fast as it answers.

    Its users are named user-0, user-1, …, and are stored like any others: test on a store of its
    own. The key, if the server has keys, is read from LOB_API_KEY or LOB_ADMIN_KEY.
    """
    from lobandits.cli.service import need_service

    need_service()
    from lobandits.service.app import Settings
    from lobandits.service.load import load_test as run

    keys = Settings.from_environment()
    report = run(
        url, keys.api_key or keys.admin_key,
        clients=clients, seconds=seconds, users=users, processes=processes, seed=seed,
    )  # fmt: skip
    typer.echo(str(report))
    if report.errors:
        raise typer.Exit(1)
