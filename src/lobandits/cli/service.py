"""The commands of the service: ``lob serve``, ``lob model`` and ``lob export``."""

from contextlib import closing
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lobandits.cli.friendly import friendly
from lobandits.cli.outputs import checked_suffix
from lobandits.errors import LobError, LobInputError

if TYPE_CHECKING:
    from lobandits.orders import LatentOrders
    from lobandits.policies import Policy

NEEDED = ("fastapi", "uvicorn", "httpx", "sqlalchemy", "psycopg", "prometheus_client")
EXAMPLES = """\
Try it, then ask for a decision:

    lob serve --orders orders.json

    curl -d '{"user": "ada"}' -H 'content-type: application/json' localhost:8000/v1/decisions

For other machines, with keys, four processes and PostgreSQL:

    export LOB_API_KEY=... LOB_ADMIN_KEY=...

    lob serve --orders orders.json --host 0.0.0.0 --workers 4 --store postgresql://lob@db/lob
"""

Store = Annotated[
    str, typer.Option(help="sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE.")
]
PolicyName = Annotated[str, typer.Option(help="The policy, options in brackets: ts(prior_std=10).")]
Sigma = Annotated[
    float | None,
    typer.Option(help="Standard deviation of the rewards; by default the file's, or 1.0."),
]
LOCAL = "sqlite:///lob.db"

model = typer.Typer(
    no_args_is_help=True, help="Change or show the model that a store's servers decide with."
)


def serve(
    orders: Annotated[
        Path | None,
        typer.Option(help="The states' orders: JSON. Without it, the newest model of the store."),
    ] = None,
    policy: PolicyName = "lobts",
    sigma: Sigma = None,
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
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Serve decisions over HTTP, until SIGTERM or Ctrl-C; requests under way are finished.

    Keys are read from LOB_API_KEY (may decide and record rewards) and LOB_ADMIN_KEY (may do
    everything). Logs are JSON lines on standard output. Orders that lob model put has replaced
    are not put back: the newer model is served.
    """
    need_service()
    from lobandits._checks import one_of, whole
    from lobandits.service.http import Settings
    from lobandits.service.http.json_log import LEVELS
    from lobandits.service.http.serve import ServerPlan

    whole("--workers", workers)
    plan = ServerPlan(
        store, reward_wait, default_reward, Settings.from_environment(),
        one_of("--log-level", log_level, LEVELS),
    )  # fmt: skip
    known = None if orders is None else read_policy(orders, policy, sigma)
    plan.run(known, host, port, workers)


@model.command("put")
@friendly
def put(
    orders: Annotated[Path, typer.Option(help="The states' orders: JSON.")],
    policy: PolicyName = "lobts",
    sigma: Sigma = None,
    store: Store = LOCAL,
) -> None:
    """Serve other orders or another policy; running servers follow within a second.

    Statistics belong to the names of arms, so arms may be added, removed and reordered. Decisions
    of earlier models accept their rewards as before.
    """
    need_service()
    from lobandits.service import DecisionService

    with DecisionService(read_policy(orders, policy, sigma), store) as service:
        typer.echo(f"model {service.model}: {service.policy!r}")


@model.command("show")
@friendly
def show(store: Store = LOCAL) -> None:
    """Show the model that a store's servers decide with."""
    need_service()
    from lobandits.service import DecisionService

    with DecisionService(None, existing(store)) as service:
        typer.echo(f"model {service.model}: {service.policy!r}")
        typer.echo(f"arms: {', '.join(service.policy.arms)}")
        orders = getattr(service.policy, "orders", None)
        if orders is not None:
            typer.echo(f"\n{orders}")


@model.command("rollback")
@friendly
def rollback(store: Store = LOCAL) -> None:
    """Serve the model before the newest again; running servers follow within a second.

    Works also where the newest model cannot be read, so that no server can start. Models before
    it that cannot be read are passed over.
    """
    need_service()
    from lobandits.service import open_store
    from lobandits.service.rollback import rollback as go_back

    with closing(open_store(existing(store))) as opened:
        found = go_back(opened)
    typer.echo(f"model {found.name}: {found.policy!r}")


def export(
    out: Annotated[Path, typer.Option(help="Where the log goes.")],
    store: Store = LOCAL,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            help="ndjson (one JSON object a line) or parquet; by default parquet if --out ends in "
            ".parquet, else ndjson."
        ),
    ] = None,
    columns: Annotated[
        str,
        typer.Option(
            help="log: all that is known. obp: action, arm, reward, pscore of rewarded decisions, "
            "as Open Bandit Pipeline names them."
        ),
    ] = "log",
    after: Annotated[int, typer.Option(help="Only decisions numbered above this.")] = 0,
) -> None:
    """Write the decisions of a store, with their rewards, to a file: all of it or nothing.

    Servers may run meanwhile. To continue an export, give as --after the number of the last row
    that was a minute old: decisions still being written then may have lower numbers.
    """
    need_service()
    from lobandits._checks import one_of, whole
    from lobandits._files import write_atomic
    from lobandits.service import open_store
    from lobandits.service.reports.log import NAMES, log_rows
    from lobandits.service.reports.log import export as parts_of
    from lobandits.service.store.models import StoredNames

    checked_suffix("--out", out, (out.suffix.lower(),))
    usual = "parquet" if out.suffix.lower() == ".parquet" else "ndjson"
    form = one_of("--format", usual if format is None else format, ("ndjson", "parquet"))
    names = one_of("--columns", columns, list(NAMES))
    with closing(open_store(existing(store))) as opened:
        rows = log_rows(opened, StoredNames(opened), whole("--after", after, least=0))

        def write(file: IO[bytes]) -> None:
            for part in parts_of(rows, form, names):  # type: ignore[arg-type]
                file.write(part)

        write_atomic(out, write)
    typer.echo(f"log saved to {out}")


def need_service() -> None:
    """Refuse without the extra that the service needs."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise LobError(
            f"this command needs the extra 'service' ({missing[0]} is not installed): "
            "pip install 'lobandits[service]'"
        )


def existing(store: str) -> str:
    """Return a store's URL, or refuse a file that is not there: opening it would create it."""
    path = store.removeprefix("sqlite:///").partition("?")[0]
    if store.startswith("sqlite:///") and not Path(path).exists():
        raise LobInputError(f"there is no store at {path}; lob serve creates one")
    return store


class _Known(NamedTuple):
    """What a policy may know."""

    n_arms: int
    sigma: float
    orders: "LatentOrders"
    state_means: Any


def read_policy(orders: Path, policy: str, sigma: float | None) -> "Policy":
    """Return the policy named ``policy`` that knows the orders in a file.

    Policies that need every state's means find them in the file of a learned model, which also
    has a sigma, for those who give none.
    """
    from lobandits._files import read_json
    from lobandits.orders import LatentOrders
    from lobandits.policies import POLICIES, make_policy
    from lobandits.policies.registry import parse_name

    name, options = parse_name(policy)
    states, data = LatentOrders.load(orders), read_json(orders)
    if sigma is None:
        sigma = data.get("sigma") or 1.0
    known = _Known(states.n_arms, sigma, states, data.get("state_means"))
    needs = {field.name for field in fields(POLICIES[name])}
    if "state_means" in needs and known.state_means is None and "state_means" not in options:
        raise LobInputError(
            f"{name} needs every state's means, which {orders} lacks; orders learned from logs "
            "come with them"
        )
    return make_policy(policy, known)
