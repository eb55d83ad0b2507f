"""The command ``lob``: thin, it parses, calls and prints.

Commands import what they need when they run, so that ``lob --help`` answers at once.
"""

from typing import Annotated

import typer

from lobandits.cli.bound import bound
from lobandits.cli.data import data
from lobandits.cli.demo import demo
from lobandits.cli.export import export
from lobandits.cli.friendly import friendly
from lobandits.cli.learn import EXAMPLES as LEARN_EXAMPLES
from lobandits.cli.learn import learn
from lobandits.cli.load_test import load_test
from lobandits.cli.model import model
from lobandits.cli.reproduce import EXAMPLES as REPRODUCE_EXAMPLES
from lobandits.cli.reproduce import reproduce
from lobandits.cli.serve import EXAMPLES as SERVE_EXAMPLES
from lobandits.cli.serve import serve
from lobandits.cli.show import show
from lobandits.cli.simulate import EXAMPLES, simulate

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


app.command("demo")(friendly(demo))
app.command("simulate", epilog=EXAMPLES)(friendly(simulate))
app.command("bound")(friendly(bound))
app.command("data")(friendly(data))
app.command("learn", epilog=LEARN_EXAMPLES)(friendly(learn))
app.command("show")(friendly(show))
app.command("serve", epilog=SERVE_EXAMPLES)(friendly(serve))
app.add_typer(model, name="model")
app.command("export")(friendly(export))
app.command("load-test")(friendly(load_test))
app.command("reproduce", epilog=REPRODUCE_EXAMPLES)(friendly(reproduce))


def main() -> None:
    """Run the command line."""
    app()
