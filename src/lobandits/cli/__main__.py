"""All commands of ``lob``; ``python -m lobandits.cli`` runs it, too."""

from typing import Annotated

import typer

from lobandits.cli import friendly, orders, service, simulate

app = typer.Typer(
    name="lob",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Start with: lob demo",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from lobandits import __version__

        typer.echo(f"lobandits {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Latent order bandits: decide for new users from the preference orders of past ones."""


app.command()(friendly(simulate.demo))
app.command(epilog=simulate.SIMULATE_EXAMPLES)(friendly(simulate.simulate))
app.command()(friendly(orders.bound))
app.command()(friendly(simulate.data))
app.command(epilog=orders.EXAMPLES)(friendly(orders.learn))
app.command()(friendly(orders.show))
app.command(epilog=service.EXAMPLES)(friendly(service.serve))
app.add_typer(service.model, name="model")
app.command()(friendly(service.export))
app.command(epilog=simulate.REPRODUCE_EXAMPLES)(friendly(simulate.reproduce))


if __name__ == "__main__":
    app()
