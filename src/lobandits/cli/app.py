"""All commands of ``lob``."""

from typing import Annotated

import typer

from lobandits.cli import (
    backup,
    bound,
    compare,
    data,
    demo,
    evaluate,
    export,
    import_logs,
    learn,
    model,
    reproduce,
    serve,
    show,
    simulate,
)
from lobandits.cli.friendly import friendly
from lobandits.cli.policies import PolicyCommand

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


app.command()(friendly(demo.demo))
app.command(cls=PolicyCommand, epilog=simulate.EXAMPLES)(friendly(simulate.simulate))
app.command()(friendly(bound.bound))
app.command()(friendly(data.data))
app.command(epilog=learn.EXAMPLES)(friendly(learn.learn))
app.command(cls=PolicyCommand, epilog=evaluate.EXAMPLES)(friendly(evaluate.evaluate))
app.command()(friendly(show.show))
app.command(epilog=serve.EXAMPLES, context_settings={"auto_envvar_prefix": serve.VARIABLES})(
    friendly(serve.serve)
)
app.add_typer(model.model, name="model")
app.command()(friendly(compare.compare))
app.command()(friendly(export.export))
app.command("import", epilog=import_logs.EXAMPLES)(friendly(import_logs.import_logs))
app.command()(friendly(backup.backup))
app.command(epilog=reproduce.EXAMPLES)(friendly(reproduce.reproduce))


def main() -> None:
    """Run the command line."""
    app()
