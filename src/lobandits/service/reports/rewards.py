"""The rewards in a store as a table to learn from, added up where they are."""

from datetime import UTC, datetime

from lobandits.errors import LobInputError
from lobandits.learning import RewardTable
from lobandits.learning.table import pivot
from lobandits.service.store import Store
from lobandits.service.store.history import reward_sums, unrewarded
from lobandits.service.store.models import DEFAULT_PROBLEM

SECOND = 1_000_000  # microseconds


def stored_rewards(
    store: Store, since: datetime | None = None, problem: str = DEFAULT_PROBLEM
) -> RewardTable:
    """Return the number, sum and sum of squares of each user's rewards from each arm.

    Decisions without a reward are counted in `RewardTable.skipped`. Default rewards count.

    Parameters
    ----------
    store
        Servers may go on deciding meanwhile.
    since
        Only decisions from then on; UTC, unless it has a zone.
    problem
        Whose decisions.
    """
    import pyarrow as pa

    start = 0 if since is None else int(_utc(since).timestamp() * SECOND)
    rows = reward_sums(store, problem, start)
    skipped = unrewarded(store, problem, start)
    if not rows:
        when = "" if since is None else f" since {since}"
        when += "" if problem == DEFAULT_PROBLEM else f" of the problem {problem!r}"
        raise LobInputError(
            f"the store {store.url} has no rewards{when}, and {skipped:,} decisions without one; "
            "report rewards first"
        )
    names = ("user", "arm", "counts", "sums", "squares")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return pivot(pa.table({n: list(v) for n, v in columns.items()}), store.url, "arm", skipped)


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
