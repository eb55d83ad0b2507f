"""Options that several commands have."""

from typing import Annotated

import typer

Seed = Annotated[int, typer.Option(help="Names all random numbers.")]
Workers = Annotated[int | None, typer.Option(help="Threads; by default one for each processor.")]
ShowBar = Annotated[bool, typer.Option(help="Show a progress bar, if there is a terminal.")]
