"""``lob bound``: the least regret of any good policy, for one user."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lobandits.cli.options import checked_suffix, save_picture
from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from rich.table import Table

    from lobandits.basics.checks import FloatArray
    from lobandits.orders import LatentOrders
    from lobandits.theory import LowerBound

KNOWN = {"lb": "each state's means", "lob": "each state's order", "mab": "nothing"}


def bound(
    orders: Annotated[
        Path, typer.Argument(help="The states' orders: a JSON file that LatentOrders.save wrote.")
    ],
    means: Annotated[
        str,
        typer.Option(
            help="The user's mean reward of each arm, as 4.1,3.9,... in the order of the file's "
            "arms, or by name as drama=4.1,comedy=3.9,..."
        ),
    ],
    sigma: Annotated[float, typer.Option(help="Standard deviation of the rewards.")] = 1.0,
    state_means: Annotated[
        Path | None,
        typer.Option(
            help="Means of every state, for the latent bandit's bound: JSON (a list of lists) or "
            "CSV (numbers only), one row per state; the user's means must be one of the rows."
        ),
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            help="Rounds T: adds each bound's regret at T, and what lobUCB and UCB on the top "
            "arms guarantee there."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the bounds to this file (.png, .pdf, .svg).")
    ] = None,
) -> None:
    """Print the least regret that any good policy must pay for one user.

    Regret grows at least like c log T. Three values of c stand side by
    side: for a policy that knows every state's means (LB), only the states'
    orders (LOB), or nothing (MAB).

    The table of arms shows which ones are worth playing for information, and
    the closest confusing instance: means that some state allows, with another
    best arm, and that are the hardest to tell from this user's.

    Example: lob bound orders.json --means 4.1,3.9,2.5 --horizon 500
    """
    from rich.console import Console

    from lobandits.orders import LatentOrders
    from lobandits.theory import regret_lower_bound
    from lobandits.theory.lower_bound import plot_bounds

    checked_suffix("--plot", plot)
    states = LatentOrders.load(orders)
    mu = parse_means(means, states.arms)
    lob = regret_lower_bound(mu, states, sigma, "lob")
    bounds = [lob, regret_lower_bound(mu, states, sigma, "mab")]
    lines = []
    if state_means is None:
        lines.append("No LB bound: it needs every state's means (--state-means).")
    else:
        table = read_table(state_means)
        try:
            bounds.insert(0, regret_lower_bound(mu, states, sigma, "lb", table))
        except LobInputError as error:
            lines.append(f"No LB bound: {error}")
    lines += _lessons(bounds, lob)
    if horizon is not None:
        lines.append(_guarantees(mu, states, sigma, horizon))
    if plot is not None:
        others = [item for item in bounds if item is not lob]
        lines.append(f"Wrote {save_picture(plot_bounds([lob, *others]), plot)}")
    console = Console(highlight=False)
    console.print(_bounds_table(bounds, horizon))
    console.print(_arms_table(lob, bounds[-1]))
    console.print("\n".join(lines), markup=False, soft_wrap=True)


def _bounds_table(bounds: "list[LowerBound]", horizon: int | None) -> "Table":
    from rich.table import Table

    table = Table("bound", "known", title="Least regret of any good policy", title_justify="left")
    table.add_column("c (regret per log T)", justify="right")
    table.add_column("share of MAB", justify="right")
    if horizon is not None:
        table.add_column(f"c log {horizon}", justify="right")
    most = bounds[-1].constant
    for item in bounds:
        share = f"{item.constant / most:.1%}" if most > 0 else "-"
        row = [item.kind.upper(), KNOWN[item.kind], f"{item.constant:.4g}", share]
        if horizon is not None:
            row.append(f"{item.regret(horizon):.4g}")
        table.add_row(*row)
    return table


def _arms_table(lob: "LowerBound", mab: "LowerBound") -> "Table":
    """Return one row per arm, best first; arms worth playing for information are bold."""
    from rich.markup import escape
    from rich.table import Table

    table = Table("arm", title="Plays per log T for information", title_justify="left")
    for name in ("mean", "gap", "LOB", "MAB", "confused with"):
        table.add_column(name, justify="right")
    best = lob.means.max()
    instance = lob.means if lob.instance is None else lob.instance
    for a in (-lob.means).argsort(kind="stable"):
        mean = lob.means[a]
        plays = [f"{bound.allocation[a]:.3g}" for bound in (lob, mab)]
        table.add_row(
            escape(lob.arms[a]),
            f"{mean:.4g}",
            f"{best - mean:.4g}",
            *(["best", "best"] if mean == best else plays),
            f"{instance[a]:.4g}" if instance[a] != mean else "",
            style="bold" if lob.allocation[a] > 0 else None,
        )
    return table


def _lessons(bounds: "list[LowerBound]", lob: "LowerBound") -> list[str]:
    lines = [f"{item.kind.upper()} is 0: {item.note}." for item in bounds if item.constant == 0]
    if lob.state is not None and lob.top is not None:
        best = lob.arms[int(lob.means.argmax())]
        lines += [
            f"Closest confusing instance: state {lob.state}, where {lob.arms[lob.top]!r} is best "
            f"({best!r} looks the same there, so only plays of other arms tell the two apart).",
            f"Cutting-plane rounds: {lob.rounds}; relative gap: {lob.gap:.0e}.",
        ]
    return lines


def _guarantees(mu: list[float], orders: "LatentOrders", sigma: float, horizon: int) -> str:
    from lobandits.theory import lobucb_regret_bound, toparms_regret_bound

    printed = lobucb_regret_bound(mu, orders, sigma, horizon)
    lobucb = lobucb_regret_bound(mu, orders, sigma, horizon, constant="corrected")
    toparms = toparms_regret_bound(mu, orders, sigma, horizon)
    return (
        f"Guaranteed at T = {horizon}, with {lobucb.q} arms on top of some state: regret of lobUCB "
        f"at most {lobucb.regret:.4g} (with the paper's printed constant {printed.regret:.4g}), of "
        f"UCB on the top arms at most {toparms.regret:.4g}."
    )


def parse_means(text: str, arms: tuple[str, ...]) -> list[float]:
    """Return the means of the arms, in order or by name, that stand in ``--means``."""
    from lobandits.orders.arms import arm_index

    if "=" not in text:
        return [_number(part.strip()) for part in text.split(",")]
    # a comma inside the name of an arm divides nothing
    longest_first = "|".join(re.escape(arm) for arm in sorted(arms, key=len, reverse=True))
    found = re.findall(rf"\s*(?:(?:{longest_first})\s*=)?[^,]*", text)
    parts = [part.strip() for part in found if part]
    named: dict[int, float] = {}
    for part in parts:
        name, sign, value = part.rpartition("=")
        if not sign:
            raise LobInputError(f"--means names some arms but not {part!r}; write name=value")
        arm = arm_index(arms, name.strip())
        if arm in named:
            raise LobInputError(f"--means gives arm {arms[arm]!r} twice")
        named[arm] = _number(value)
    left = [name for arm, name in enumerate(arms) if arm not in named]
    if left:
        raise LobInputError(f"--means leaves out: {', '.join(left)}")
    return [named[arm] for arm in range(len(arms))]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise LobInputError(f"--means holds {text!r}, which is no number") from None


def read_table(path: Path) -> "FloatArray":
    """Return the numbers in a JSON or CSV file."""
    import numpy as np

    from lobandits.basics.checks import finite_array
    from lobandits.basics.files import read_json

    if path.suffix.lower() == ".json":
        return finite_array(str(path), read_json(path), ndim=2)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [[float(cell) for cell in line.split(",")] for line in lines if line.strip()]
        return finite_array(str(path), np.array(rows), ndim=2)
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise LobInputError(f"{path} is no table of numbers: {error}") from None
