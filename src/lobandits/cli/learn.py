"""``lob learn``: a model of users from logs."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lobandits.basics.progress import spinner
from lobandits.cli.model_summary import OrdersPlot, print_learned
from lobandits.cli.options import (
    DEFAULT_PROBLEM,
    ArmColumn,
    Features,
    LikelihoodName,
    LogFiles,
    MinArmRewards,
    MinUserRewards,
    RewardColumn,
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
from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from lobandits.learning import RewardTable

EXAMPLES = """
**Examples**

States of users by their ratings of genres, to a file for `lob show` and `lob serve`:

    lob learn ratings.csv --user userId --arm genre --reward rating --out model.json

Many files, without rare arms and users of whom little is known:

    lob learn "logs/*.parquet" --min-arm-rewards 200 --min-user-rewards 50 --out model.json

The rewards of the last months in a service's own store:

    lob learn --store sqlite:///lob.db --since 2026-05-01 --out model.json

Rewards that are counts, such as songs played in a session:

    lob learn plays.csv --likelihood poisson --out model.json

With what is known of users before their first reward, from a table of them:

    lob learn clicks.csv --features age,country,plan:category --users users.csv --out model.json
"""


def learn(
    logs: LogFiles = None,
    user: UserColumn = "user",
    arm: ArmColumn = "arm",
    reward: RewardColumn = "reward",
    context: Annotated[
        str | None,
        typer.Option(help="The column of contexts; every arm is then one of its own in each."),
    ] = None,
    features: Features = None,
    users: UsersTable = None,
    arm_features: Annotated[
        Path | None,
        typer.Option(help="What is known of arms: a file with a row for each, for new arms."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Learn from the rewards of a service's store, by its URL; no logs then."),
    ] = None,
    problem: Annotated[
        str, typer.Option(help="With --store: whose rewards, if it has several problems.")
    ] = DEFAULT_PROBLEM,
    skip_empty: SkipEmpty = False,
    time: Annotated[
        str | None, typer.Option(help="The column of times, for --since, --half-life.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            help="Learn from the recent part: a date or time such as 2026-05-01, or a number "
            "where the column holds numbers."
        ),
    ] = None,
    half_life: Annotated[
        str | None,
        typer.Option(
            help="Rows count half for every such span before the newest: 12h, 30d or 4w, or a "
            "number where the column of times holds numbers."
        ),
    ] = None,
    states: Annotated[
        str, typer.Option(help="Number of states, m; auto: chosen on held-out users.")
    ] = "auto",
    likelihood: LikelihoodName = None,
    min_user_rewards: MinUserRewards = 1,
    min_arm_rewards: MinArmRewards = 1,
    seed: Annotated[int, typer.Option(help="Names all random numbers; same seed, same model.")] = 0,
    workers: Workers = None,
    out: Annotated[Path | None, typer.Option(help="Save the model: a .json file.")] = None,
    plot: OrdersPlot = None,
    progress: ShowBar = True,
) -> None:
    """Learn the latent states of users from logs of (user, arm, reward).

    The model is a prior: how common each state is, what its users like, and how they differ.
    Evidence on held-out users chooses the number of states, and one state is a possible answer.
    The file holds no user.
    """
    from lobandits.learning import reward_table
    from lobandits.learning.arm_effects import read_arm_features
    from lobandits.learning.learn import features_of, model_of

    checked_suffix("--out", out, (".json",))
    checked_suffix("--plot", plot)
    n_states = parse_states(states)
    filters: Any = {"min_user_rewards": min_user_rewards, "min_arm_rewards": min_arm_rewards}
    with spinner(progress, "adding up rewards"):
        if store is not None and half_life is not None:
            raise LobInputError(
                f"--half-life is {half_life!r}, but it is for logs; write them with lob export"
            )
        if store is not None:
            table = reward_table(_stored(store, problem, logs, time, since, context), **filters)
        elif logs:
            table = reward_table(
                logs, user, arm, reward, context=context,
                skip_empty=skip_empty, time=time, since=since, half_life=half_life, **filters,
            )  # fmt: skip
        else:
            raise LobInputError("there is nothing to learn from; give files of logs, or --store")
    options = {"user": user, "arm": arm, "reward": reward, "context": context, "time": time,
               "since": since, "half_life": half_life, "skip_empty": skip_empty}  # fmt: skip
    if users is not None:
        options["users"] = str(users)
    if arm_features is not None:
        options["arm_features"] = str(arm_features)
    source: Any = logs if users is None else users
    known = features_of(
        table, parse_features(features), source or table, user, users,
        time if users is None else None, (arm, reward, context),
    )  # fmt: skip
    model = model_of(
        table, likelihood, n_states, options | filters, features=known,
        arm_features=read_arm_features(table.arms, arm_features, arm), seed=seed, workers=workers,
        progress=progress,
    )  # fmt: skip
    print_learned(model, table, (user, arm), known.concerns if known is not None else ())
    if out is not None:
        model.save(out)
        typer.echo(f"model saved to {out}")
    if plot is not None:
        typer.echo(f"figure saved to {save_picture(model.plot(), plot)}")


def _stored(
    store: str,
    problem: str,
    logs: list[str] | None,
    time: str | None,
    since: str | None,
    context: str | None,
) -> "RewardTable":
    """Return the rewards in a service's store, where decisions without one are normal."""
    if logs:
        raise LobInputError(f"--store is {store}, and there are logs, {logs[0]}; give one of both")
    if time is not None:
        raise LobInputError(
            f"--time is {time!r}, but a store has the times of its decisions; leave it out"
        )
    if context is not None:
        raise LobInputError(
            f"--context is {context!r}, but the arms of a store's log name theirs; leave it out"
        )
    need_service()
    from lobandits.learning.aggregate import parse_time
    from lobandits.service import open_store
    from lobandits.service.reports.rewards import stored_rewards

    start = None if since is None else parse_time(since)
    with closing(open_store(existing(store))) as opened:
        return stored_rewards(opened, start, problem)
