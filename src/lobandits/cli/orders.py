"""``lob learn``, ``show`` and ``bound``: orders from logs, as a table, and what they are worth."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lobandits.cli import ShowBar, checked_suffix, parse_means, read_table, save_picture
from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from rich.table import Table

    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders
    from lobandits.theory import LowerBound

MOST_SHOWN = 20
OTHER_COLUMNS = 36
KNOWN = {"lb": "each state's means", "lob": "each state's order", "mab": "nothing"}
EXAMPLES = """
**Examples**

Twenty orders of genres from ratings, to a file for `lob show` and `lob serve`:

    lob learn ratings.csv --user userId --arm genre --reward rating --states 20 --out orders.json

Many files, without rare arms and users of whom little is known:

    lob learn "logs/*.parquet" --min-arm-rewards 200 --min-user-rewards 50 --out orders.json

Partial orders that hold only what the users support statistically:

    lob learn logs.csv --states 8 --relations confident --out orders.json
"""
Plot = Annotated[
    Path | None, typer.Option(help="Save a picture of the orders: .png, .pdf or .svg.")
]


def learn(
    logs: Annotated[
        list[str],
        typer.Argument(help="CSV or Parquet files, a folder or a glob of them; a row is a reward."),
    ],
    user: Annotated[str, typer.Option(help="The column of users.")] = "user",
    arm: Annotated[str, typer.Option(help="The column of arms.")] = "arm",
    reward: Annotated[str, typer.Option(help="The column of rewards.")] = "reward",
    states: Annotated[int, typer.Option(help="Number of states, m.")] = 8,
    centroid: Annotated[
        str, typer.Option(help="mean: order of the members' average, as in the paper; or borda.")
    ] = "mean",
    relations: Annotated[
        str,
        typer.Option(help="total orders, or confident: partial ones, of supported relations only."),
    ] = "total",
    level: Annotated[
        float, typer.Option(help="With confident: chance of an unsupported relation in a state.")
    ] = 0.05,
    min_user_rewards: Annotated[
        int, typer.Option(help="Drop users with fewer rewards, after the arms.")
    ] = 1,
    min_arm_rewards: Annotated[
        int, typer.Option(help="Drop arms with fewer rewards, before the users.")
    ] = 1,
    starts: Annotated[
        int, typer.Option(help="Cluster from so many starts, and keep the best.")
    ] = 4,
    seed: Annotated[
        int, typer.Option(help="Names all random numbers; same seed, same orders.")
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Save the model: a .json file.")] = None,
    plot: Plot = None,
    progress: ShowBar = True,
) -> None:
    """Learn the orders of m latent states from logs of (user, arm, reward).

    Users are clustered by the order of their mean rewards, whatever scale each of them rewards
    on (k-means with Kendall's tau).
    """
    from lobandits.learning import learn_orders

    checked_suffix("--out", out, (".json",))
    checked_suffix("--plot", plot)
    model = learn_orders(
        logs, user, arm, reward, states,
        centroid=centroid, relations=relations, level=level,  # type: ignore[arg-type]
        min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards,
        n_init=starts, seed=seed, progress=progress,
    )  # fmt: skip
    _print(model, brief=True)
    if out is not None:
        model.save(out)
        typer.echo(f"orders saved to {out}")
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(model.plot(), plot)}")


def show(
    orders: Annotated[
        Path, typer.Argument(help="A JSON file that lob learn or LatentOrders.save wrote.")
    ],
    plot: Plot = None,
) -> None:
    """Print the orders in a file, each arm by its name, the best first.

    Of orders learned from logs also how many users each state has; the largest state comes first.

    Example: lob show orders.json --plot orders.png
    """
    from lobandits._files import read_json
    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders
    from lobandits.orders.latent import MODEL_FORMAT

    checked_suffix("--plot", plot)
    data = read_json(orders)
    learned = isinstance(data, dict) and data.get("format") == MODEL_FORMAT
    saved = OrderModel.load(orders) if learned else LatentOrders.load(orders)
    _print(saved, brief=False)
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(saved.plot(), plot)}")


def _print(saved: "OrderModel | LatentOrders", brief: bool) -> None:
    """Print a row for each state, the largest first, then what was learned.

    If ``brief``, only the ``MOST_SHOWN`` largest, each in one line of the terminal.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from lobandits.learning import OrderModel

    console = Console(highlight=False)
    model = saved if isinstance(saved, OrderModel) else None
    orders = saved.orders if isinstance(saved, OrderModel) else saved
    sizes = [] if model is None else model.sizes.tolist()
    states = list(range(orders.n_states))
    table = Table(show_lines=not brief)
    table.add_column("state", justify="right")
    if sizes:
        table.add_column("users", justify="right")
        table.add_column("share", justify="right")
        states.sort(key=lambda s: -sizes[s])
    table.add_column("order, best first", overflow="fold")
    room = max(console.width - OTHER_COLUMNS, 20)
    for s in states[: MOST_SHOWN if brief else None]:
        members = [f"{sizes[s]:,}", f"{sizes[s] / sum(sizes):.1%}"] if sizes else []
        text = str(orders[s])
        if brief and len(text) > room:
            text = text[: room - 1] + "…"
        table.add_row(str(s), *members, escape(text))
    console.print(table)
    if brief and len(states) > MOST_SHOWN:
        console.print(f"... and {len(states) - MOST_SHOWN} smaller states")
    if model is not None:
        unknown = "unknown (no user tried an arm twice)"
        summary = Table(box=None, show_header=False)
        summary.add_row("users", f"{model.n_users:,}")
        summary.add_row("arms", f"{orders.n_arms}")
        summary.add_row("states", f"{orders.n_states}")
        summary.add_row("merged states", f"{model.merged}")
        summary.add_row("imputed means", f"{model.imputed_share:.1%}")
        summary.add_row("estimated sigma", unknown if isnan(model.sigma) else f"{model.sigma:.4g}")
        console.print(summary)


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
    from lobandits.theory.lower_bound_plot import plot_bounds

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
