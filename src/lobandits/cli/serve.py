"""``lob serve``: decisions over HTTP."""

import json
import os
import signal
from collections.abc import Callable
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import Annotated, ParamSpec

import typer

from lobandits.basics.files import read_toml
from lobandits.cli.options import (
    DEFAULT_PROBLEM,
    LOCAL,
    HalfLife,
    OrdersFile,
    PolicyName,
    Sigma,
    Store,
    existing,
    need_service,
)
from lobandits.cli.policies import Import, import_policies
from lobandits.cli.saved_orders import read_policy
from lobandits.errors import LobInputError

P = ParamSpec("P")

EXAMPLES = """\
Try it, then ask for a decision:

    lob serve --model model.json

    curl -d '{"user": "ada"}' -H 'content-type: application/json' localhost:8000/v1/decisions

For other machines, with keys, four processes and PostgreSQL:

    export LOB_API_KEY=... LOB_ADMIN_KEY=...

    lob serve --model model.json --host 0.0.0.0 --workers 4 --store postgresql://lob@db/lob

Against what you would do without it, with logs that support estimates, then:

    lob serve --model model.json --control popular=0.1 --explore 0.05

    lob compare

Orders, and no model:

    lob serve --orders orders.json --policy lobts --sigma 1.0

Every option is also a variable, LOB_STORE for --store, and a line of a file:

    LOB_STORE=postgresql://lob:password@db/lob lob serve --config lob.toml
"""
VARIABLES = "LOB"  # of an option --some-thing: LOB_SOME_THING


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take defaults of the options from a TOML file; the line and the environment go before it."""
    if path is None:
        return None
    names = {word.lstrip("-"): p.name for p in context.command.params for word in p.opts}
    try:
        values = {key.replace("_", "-"): value for key, value in read_toml(path).items()}
    except LobInputError as error:
        raise typer.BadParameter(str(error)) from None
    if unknown := values.keys() - names.keys():
        raise typer.BadParameter(f"{path} has {min(unknown)!r}, which is no option of lob serve")
    context.default_map = {names[key]: value for key, value in values.items()}
    return path


def ends_at_once(command: Callable[P, None]) -> Callable[P, None]:
    """Let the process end with its work, and without failure where it has not begun any.

    A signal to end may come before the server takes over.
    """

    @wraps(command)
    def run(*args: P.args, **options: P.kwargs) -> None:
        before = signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        try:
            command(*args, **options)
        finally:
            signal.signal(signal.SIGTERM, before)
        from lobandits.service.http.server import leave

        leave()

    return run


@ends_at_once
def serve(
    model: Annotated[
        Path | None,
        typer.Option(
            help="A model that lob learn wrote: JSON. Without it and --orders, the newest model of "
            "the store."
        ),
    ] = None,
    orders: OrdersFile = None,
    policy: PolicyName = None,
    sigma: Sigma = None,
    half_life: HalfLife = None,
    imports: Import = None,
    store: Store = LOCAL,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine needs a key.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Where to listen; 0 takes a free port.")] = 8000,
    workers: Annotated[int, typer.Option(help="Processes, all on one port.")] = 1,
    reward_wait: Annotated[
        float | None,
        typer.Option(help="Seconds after which a decision without a reward gets the default."),
    ] = None,
    default_reward: Annotated[float, typer.Option(help="The default reward.")] = 0.0,
    keep: Annotated[
        str | None,
        typer.Option(help="Delete decisions after a time such as 90d or 4w; statistics stay."),
    ] = None,
    problem: Annotated[
        str,
        typer.Option(help="The problem of --model or --orders, and of requests that name none."),
    ] = DEFAULT_PROBLEM,
    control: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY=SHARE",
            help="Let another policy decide for a share of users, to compare: popular=0.1.",
        ),
    ] = None,
    control_rewards: Annotated[
        int, typer.Option(help="Rewards after which a user counts in the comparison.")
    ] = 10,
    explore: Annotated[
        float, typer.Option(help="Share of choices that are uniform among the allowed arms.")
    ] = 0.0,
    apprentice: Annotated[
        str | None,
        typer.Option(
            metavar="ARM_FIELD",
            help="Requests say in this field which arm is shown anyway; decide silently.",
        ),
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
    keys: Annotated[
        Path | None,
        typer.Option(help="More keys, also for some problems only: TOML; reread on SIGHUP."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file with options, such as port = 9000.",
            callback=read_config,
            is_eager=True,
        ),
    ] = None,
) -> None:
    """Serve decisions over HTTP, until SIGTERM or Ctrl-C; requests under way are finished.

    Keys are read from LOB_API_KEY (may decide and record rewards) and LOB_ADMIN_KEY (may do
    everything), several with commas between them, and from --keys. Logs are JSON lines on
    standard output. A model that lob model put has replaced is not put back: the newer model is
    served. All problems of the store are served.
    """
    need_service()
    import_policies(*imports or ())
    from lobandits.basics.checks import fraction, one_of, seconds_of, whole
    from lobandits.basics.user_code import packed
    from lobandits.beliefs import LIKELIHOODS
    from lobandits.policies import POLICIES
    from lobandits.service import Control
    from lobandits.service.http import Settings
    from lobandits.service.http.json_log import LEVELS
    from lobandits.service.http.serve import ServerPlan

    whole("--workers", workers)
    plan = ServerPlan(
        store,
        reward_wait,
        default_reward,
        Settings.from_environment(keys_file=keys),
        one_of("--log-level", log_level, LEVELS),
        packed(None, [*LIKELIHOODS.values(), *POLICIES.values()]),
        problem,
        None if keep is None else seconds_of("--keep", keep),
        fraction("--explore", explore),
        control is not None,
        apprentice,
    )
    if apprentice is not None:
        from lobandits.service.http.bodies import apprentice_bodies

        apprentice_bodies(apprentice)
        if control is not None:
            raise LobInputError(
                "--apprentice decides nothing, so there is nothing to compare; leave out --control"
            )
    given = model is not None or orders is not None
    if not given and half_life is not None:
        raise LobInputError(
            f"--half-life {half_life} is kept with a model; give its --model or --orders, too, or "
            "put another model: lob model put --half-life"
        )
    known = read_policy(model, orders, policy, sigma, half_life) if given else None
    group = None
    if control is not None:
        name, share = read_control(control)
        if given:
            group = Control(read_policy(model, orders, name, sigma), share, control_rewards)
        else:
            check_same(store, problem, name, share, control_rewards)
    plan.run(known, host, port, workers, group)


def read_control(text: str) -> tuple[str, float]:
    """Return policy and share of a control group."""
    name, _, share = text.rpartition("=")
    try:
        if name:
            return name, float(share)
    except ValueError:
        pass
    raise LobInputError(f"--control must be POLICY=SHARE, such as popular=0.1, got {text!r}")


def check_same(store: str, problem: str, name: str, share: float, rewards: int) -> None:
    """Refuse another control group than the store's newest: without orders that goes on."""
    from lobandits.service import open_store
    from lobandits.service.observers.control_group import newest_comparison

    with closing(open_store(existing(store))) as opened:
        stored = newest_comparison(opened, problem)
    kept = stored and (json.loads(stored.policy)["policy"], stored.share, stored.rewards)
    if kept != (name.partition("(")[0], share, rewards):
        has = "none" if kept is None else "{}={:g} --control-rewards {}".format(*kept)
        raise LobInputError(
            f"without --model or --orders the store's control group goes on, which is {has}; give "
            "one of them to begin another"
        )
