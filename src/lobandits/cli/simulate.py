"""``lob simulate``: policies compared on the synthetic task, or on a learned model's users."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lobandits.cli.options import ShowBar, Workers, checked_suffix, save_picture
from lobandits.cli.policies import Import, import_policies, playable, policy_names
from lobandits.cli.saved_orders import load_model
from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from lobandits.simulation.learned_users import LearnedUsers

USUAL = "ucb,ts,lobucb,lobts"
EXAMPLES = """
**Examples**

The paper's synthetic task, with a table, the raw numbers and a picture:

    lob simulate --policies ucb,ts,lobts --users 200 --out result.npz --plot regret.png

How much is lost by projecting every tenth round only:

    lob simulate --policies "lobts,lobts(project_every=10)"

Policies see only 60% of the order's relations:

    lob simulate --policies ucb,lobucb,lobts -q 0.6

Users agree on the order and disagree on every number; latent bandits (mts) now believe wrong means:

    lob simulate --policies mts,lobts --scale 0.5,2 --shift=-3,3

Policies that learn from a log of past users, whose m orders all users share:

    lob simulate --policies lobts,popular,mixts,lobbayes --past-users 600 --scale 0.5,2

Users as a model learned from logs sees them:

    lob simulate --model model.json --policies popular,ts,lobts,lobbayes

A policy of your own, defined in a file:

    lob simulate --import mine.py --policies mine,lobts

A hundred thousand users, keeping only means and standard errors:

    lob simulate --policies lobts --users 100000 --keep mean
"""


def simulate(
    arms: Annotated[int, typer.Option(help="Number of arms, k.")] = 15,
    states: Annotated[int, typer.Option(help="Number of latent states, m, for each user.")] = 15,
    sigma: Annotated[
        float | None,
        typer.Option(
            help="Standard deviation of the rewards' noise.", show_default="1.0, or the model's"
        ),
    ] = None,
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
        str, typer.Option(help="gaussian, clipped (like ratings), bernoulli or poisson.")
    ] = "gaussian",
    past_users: Annotated[
        int,
        typer.Option(
            help="Users who came before, with the same m orders for all: they teach the prior of "
            "lobbayes, mixts and popular."
        ),
    ] = 0,
    past_rewards: Annotated[int, typer.Option(help="Rewards of each past user.")] = 60,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Users as a learned model sees them, of its arms, states and sigma: a file that "
            "lob learn wrote."
        ),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Policies to compare, separated by commas: {policies}, or all. Options go in "
            "brackets: lobucb(radius=2).",
            show_default=USUAL,
        ),
    ] = None,
    imports: Import = None,
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
    out: Annotated[Path | None, typer.Option(help="Save the result: an .npz file.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Save a picture of the regret: .png, .pdf or .svg.")
    ] = None,
    progress: ShowBar = True,
) -> None:
    """Compare policies on the paper's synthetic task: mean cumulative regret, lower is better.

    Each user has m random orders of k arms and lives in one of them; the arm at rank j earns
    gamma (k - j) on average. lob policies know the orders, m policies (mucb, mts) also the means,
    ucb and ts neither; lobbayes, mixts and popular know what past users taught. All policies meet
    the same users and the same noise.
    """
    from lobandits.simulation import Synthetic
    from lobandits.simulation import simulate as simulate_rewards

    checked_suffix("--out", out, (".npz",))
    checked_suffix("--plot", plot)
    import_policies(*(imports or ()))
    synthetic: dict[str, Any] = {
        "n_arms": arms,
        "n_states": states,
        "gamma": gamma,
        "q": q,
        "scale": _parse_pair("--scale", scale),
        "shift": _parse_pair("--shift", shift),
        "rewards": rewards,
        "past_users": past_users,
        "past_rewards": past_rewards,
    }
    env: Any
    if model is None:
        env = Synthetic(sigma=1.0 if sigma is None else sigma, **synthetic)
    else:
        env = _learned_users(model, sigma, synthetic)
    names = policy_names(USUAL if policies is None else policies, playable(_has_prior(env)))
    options: dict[str, Any] = {"workers": workers, "progress": progress, "keep": keep}
    result = simulate_rewards(env, names, horizon, users, seed, **options)
    typer.echo(str(result.summary(bound=bound)))
    if out is not None:
        typer.echo(f"\nresult saved to {result.save(out)}")
    if plot is not None:
        typer.echo(f"\nfigure saved to {save_picture(result.plot(bound=bound), plot)}")


def _learned_users(path: Path, sigma: float | None, synthetic: dict[str, Any]) -> "LearnedUsers":
    """Return the environment of a model's users; options of the synthetic task are refused."""
    from lobandits.simulation import Synthetic
    from lobandits.simulation.learned_users import LearnedUsers

    usual = Synthetic()
    for name, value in synthetic.items():
        if value != getattr(usual, name):
            option = f"--{name.removeprefix('n_').replace('_', '-')}"
            raise LobInputError(
                f"{option} is an option of the synthetic task; with --model leave it out"
            )
    return LearnedUsers(load_model(path), sigma)


def _has_prior(env: Any) -> bool:
    """Whether users come with a prior, which policies such as lobbayes need."""
    return env.past_users > 0 if hasattr(env, "past_users") else True


def _parse_pair(option: str, text: str | None) -> tuple[float, float] | None:
    """Return the two numbers in ``text``, separated by a comma."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise LobInputError(f"{option} must be LOW,HIGH, for example 0.5,2; got {text!r}") from None
    return low, high
