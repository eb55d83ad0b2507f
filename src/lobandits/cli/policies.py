"""What commands that take policies share: names, code to import, a help text that lists them."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from lobandits.errors import LobInputError

Import = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="FILE_OR_MODULE",
        help="Import a .py file, or a module by its dotted name, that defines policies; may be "
        "given again.",
    ),
]


def import_policies(*specs: str) -> list[str]:
    """Import files or modules that define policies; return the names by which these are known."""
    from lobandits.basics.user_code import import_code
    from lobandits.policies import POLICIES

    found: list[str] = []
    for spec in specs:
        before = dict(POLICIES)
        home = import_code(spec).__name__
        own = [
            name
            for name, cls in POLICIES.items()
            if before.get(name) is not cls or f"{cls.__module__}.".startswith(f"{home}.")
        ]
        if not own:
            raise LobInputError(
                f"{spec} defines no policy; a policy is a subclass of lobandits.Policy with a "
                'name, such as name = "mine"'
            )
        found += own
    return found


def policy_names(text: str, known: Iterable[str]) -> list[str]:
    """Return the policies named in ``text``, separated by commas; "all" means each known."""
    # commas inside brackets belong to a policy's options
    names = [name.strip() for name in re.split(r",(?![^(]*\))", text) if name.strip()]
    return list(known) if names == ["all"] else names


def playable(prior: bool) -> list[str]:
    """Return the names of all policies, without a prior those that need none."""
    from lobandits.policies import POLICIES
    from lobandits.policies.registry import needs

    return [name for name, cls in POLICIES.items() if prior or not needs(cls, "prior")]


class PolicyCommand(TyperCommand):
    """A command whose help lists the policies, which are looked up only when it is shown."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with names for {policies}."""
        from lobandits.policies import POLICIES

        for parameter in self.params:
            option: Any = parameter
            option.help = (option.help or "").replace("{policies}", ", ".join(POLICIES))
        super().format_help(ctx, formatter)
