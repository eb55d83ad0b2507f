"""``lob evaluate``: whether learned states would help the users of these logs."""

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from lobandits.cli.options import (
    DEFAULT_PROBLEM,
    ArmColumn,
    Features,
    LikelihoodName,
    LogFiles,
    MinArmRewards,
    MinUserRewards,
    RewardColumn,
    Seed,
    ShowBar,
    SkipEmpty,
    UserColumn,
    UsersTable,
    Workers,
    checked_suffix,
    existing,
    need_service,
    parse_features,
    parse_states,
    save_picture,
)
from lobandits.cli.policies import Import, import_policies, policy_names
from lobandits.errors import LobInputError

USUAL = "popular,ts,mixts,lobts,lobids,lobbayes"
EXAMPLES = """
**Examples**

From a CSV file to a verdict:

    lob evaluate ratings.csv --user userId --arm genre --reward rating

With a page to show around:

    lob evaluate clicks.parquet --user customer --arm product --reward click --html report.html

Longer, with fewer policies:

    lob evaluate logs.csv --horizon 200 --policies popular,ts,lobbayes

What a service decided, replayed with its own probabilities:

    lob evaluate --store sqlite:///lob.db
"""


def evaluate(
    logs: LogFiles = None,
    user: UserColumn = "user",
    arm: ArmColumn = "arm",
    reward: RewardColumn = "reward",
    features: Features = None,
    users: UsersTable = None,
    store: Annotated[
        str | None,
        typer.Option(help="Judge by the rewards of a service's store, by its URL; no logs then."),
    ] = None,
    problem: Annotated[
        str, typer.Option(help="With --store: whose rewards, if it has several problems.")
    ] = DEFAULT_PROBLEM,
    policies: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Policies to judge, separated by commas: {policies}.",
            show_default=f"{USUAL.replace(',', ', ')}; of more than 100 arms without orders",
        ),
    ] = None,
    imports: Import = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            help="Decisions for each user.",
            show_default="the 90th percentile of the rewards per user, from 5 to 100",
        ),
    ] = None,
    states: Annotated[
        str, typer.Option(help="Number of states, m; auto: chosen anew by each split's teachers.")
    ] = "auto",
    likelihood: LikelihoodName = None,
    splits: Annotated[int, typer.Option(help="How often users are split.")] = 3,
    most_users: Annotated[
        int, typer.Option(help="Of more users, so many at random teach and are judged.")
    ] = 1200,
    skip_empty: SkipEmpty = False,
    time: Annotated[
        str | None, typer.Option(help="The column of times: the order of rewards, and --since.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Judge by the recent part: a date, a time, or a number as in --time."),
    ] = None,
    propensity: Annotated[
        str | None,
        typer.Option(help="The column of the probabilities with which arms were chosen."),
    ] = None,
    min_user_rewards: MinUserRewards = 1,
    min_arm_rewards: MinArmRewards = 1,
    seed: Seed = 0,
    workers: Workers = None,
    plot: Annotated[
        Path | None, typer.Option(help="Save a picture of the gains: .png, .pdf or .svg.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Save a report, one file with all: .html.")
    ] = None,
    progress: ShowBar = True,
) -> None:
    """Judge policies on users who taught nothing: what each earns, with intervals, and a verdict.

    Users are split several times: some teach, others are judged. What a judged user likes is drawn
    from the user's posterior; where the logs allow it, policies also play on logged rewards alone.
    The last line says: use it, it makes no difference, or not enough data to tell.
    """
    from lobandits.evaluation import evaluate as judge

    checked_suffix("--plot", plot)
    checked_suffix("--html", html, (".html",))
    import_policies(*imports or ())
    names = None if policies is None else policy_names(policies, USUAL.split(","))
    options: Any = {"skip_empty": skip_empty, "time": time, "propensity": propensity}
    source: Any = logs
    if store is not None:
        given = {"--time": time, "--propensity": propensity, "logs": logs}
        source, options = _stored(store, problem, given)
    elif not logs:
        raise LobInputError("there is nothing to judge by; give files of logs, or --store")
    report = judge(
        source, names, user, arm, reward, horizon=horizon, n_states=parse_states(states),
        likelihood=likelihood, splits=splits, most_users=most_users, since=since,
        features=parse_features(features), users=users,
        min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards, seed=seed,
        workers=workers, progress=progress, **options,
    )  # fmt: skip
    typer.echo(str(report))
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(report.plot(), plot)}")
    if html is not None:
        typer.echo(f"report saved to {report.save_html(html)}")


def _stored(store: str, problem: str, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the decisions of a store as a table, and how it is read."""
    for name, value in given.items():
        if value:
            raise LobInputError(f"--store has logs, times and probabilities; leave {name} out")
    need_service()
    import pyarrow as pa

    from lobandits.service import open_store
    from lobandits.service.reports.log import log_rows
    from lobandits.service.store.models import StoredNames

    with closing(open_store(existing(store))) as opened:
        rows = [
            (row.user, row.arm, row.reward, row.time, row.probability)
            for row in log_rows(opened, StoredNames(opened), problem)
        ]
    if not any(row[2] is not None for row in rows):
        raise LobInputError(f"the store {store} has no rewards; report rewards first")
    names = ["user", "arm", "reward", "time", "probability"]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    return table, {"skip_empty": True, "time": "time", "propensity": "probability"}
