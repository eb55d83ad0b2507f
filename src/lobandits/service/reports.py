"""What people ask of a service: a user, how it goes overall, and the log of decisions."""

import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.orders import LatentOrders
from lobandits.policies.policy import Policy, normalised
from lobandits.service.model import CurrentModel, Model, state_of
from lobandits.service.store import Store

Format = Literal["ndjson", "parquet"]
Columns = Literal["log", "obp"]
KINDS = {"ndjson": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}
CHUNK = 5_000  # rows

Row = dict[str, Any]


def user_report(
    current: CurrentModel, user: str, statistics: Mapping[int, tuple[int, float]]
) -> Row:
    """Return plays and means of the model's arms, and of others that were played."""
    numbers = dict.fromkeys([*current.model.ids, *statistics])
    cells = {current.arm_name(number): statistics.get(number, (0, 0.0)) for number in numbers}
    return {
        "user": user,
        "plays": sum(plays for plays, _ in cells.values()),
        "arms": {
            arm: {"plays": plays, "mean": total / plays if plays else None}
            for arm, (plays, total) in cells.items()
        },
    }


def explanation(model: Model, statistics: Mapping[int, tuple[int, float]]) -> Row:
    """Return what `Policy.explain` says, with the state posterior; None is no finite number."""
    policy = model.policy
    cells = [statistics.get(number, (0, 0.0)) for number in model.ids]
    plays, totals = zip(*cells, strict=True)
    state = state_of(policy, np.array([plays]), np.array([totals]))
    told = policy.explain(state)
    posterior = policy.state_posterior(state)
    states = told.states
    if posterior is not None:
        states = states or [{"state": s} for s in range(posterior.shape[1])]
        for row, chance in zip(states, posterior[0].tolist(), strict=True):
            row["posterior"] = chance
    return {
        "model": model.name,
        "policy": repr(policy),
        "why": _plain(told.arms),
        "states": _plain(states),
        "notes": list(told.notes),
    }


def describe(name: str, policy: Policy) -> Row:
    """Return a model; the rank of an arm in a state is 1 plus the number of arms above it."""
    orders = getattr(policy, "orders", None)
    ranks = 1 + orders.precedes.sum(axis=1) if isinstance(orders, LatentOrders) else None
    return {
        "model": name,
        "policy": policy.name,
        "arms": list(policy.arms),
        "ranks": None if ranks is None else ranks.tolist(),
        "definition": policy.to_dict(),
    }


def activity(store: Store, model: Model, now: int, minutes: int, sample: int) -> Row:
    """Return what happened by minute and arm, and how sure the states are."""
    last = now // 60_000_000
    first = last - minutes + 1
    found = [row for row in store.activity(first) if row[0] <= last]
    arms = list(dict.fromkeys([*model.policy.arms, *(row[1] for row in found)]))
    decisions, rewards = np.zeros((2, len(arms), minutes), np.int64)
    totals = np.zeros((len(arms), minutes))
    for minute, arm, *sums in found:
        cell = arms.index(arm), minute - first
        decisions[cell], rewards[cell], totals[cell] = sums
    shares, means = _ratios(decisions, decisions.sum(axis=0)), _ratios(totals, rewards)
    return {
        "model": model.name,
        "minutes": [_date(6e7 * minute).isoformat() for minute in range(first, last + 1)],
        "decisions": decisions.sum(axis=0).tolist(),
        "rewards": rewards.sum(axis=0).tolist(),
        "arms": {
            arm: {
                "decisions": decisions[i].tolist(),
                "rewards": rewards[i].tolist(),
                "share": shares[i],
                "mean": means[i],
            }
            for i, arm in enumerate(arms)
        },
        "certainty": certainty(store, model, sample),
    }


def certainty(store: Store, model: Model, sample: int) -> Row:
    """Return the chance of the most likely state, or else arm, of the last decisions' users."""
    policy = model.policy
    of = "arm" if policy.state_posterior(policy.new_state(1)) is None else "state"
    users, stored = store.recent_statistics(sample)
    chances: list[float] = []
    if users:
        state = state_of(policy, *model.table(users, stored))
        posterior = policy.state_posterior(state)
        odds = normalised(policy.odds(state, policy.all_arms)) if posterior is None else posterior
        chances = odds.max(axis=1).tolist()
    return {"of": of, "users": len(users), "chances": chances}


def _ratios(parts: FloatArray | IntArray, wholes: IntArray) -> list[list[float | None]]:
    """Return parts / wholes, None where the whole is 0."""
    ratios = parts / np.where(wholes > 0, wholes, np.nan)
    return [[_finite(x) for x in row] for row in ratios.tolist()]


def _plain(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    return [{key: _finite(value) for key, value in row.items()} for row in rows]


def _finite(value: Any) -> Any:
    """Return None for what JSON cannot hold, else the value."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class LogRow(NamedTuple):
    """A decision and what became of it; times are UTC.

    ``action`` and ``pscore`` are the arm as a number from 0 and the probability, as `Open Bandit
    Pipeline <https://github.com/st-tech/zr-obp>`_ names them.
    """

    number: int  # counts the decisions of a store; to continue an export, start after the last one
    id: str
    user: str
    arm: str
    probability: float
    model: str
    time: datetime
    reward: float | None  # None if there is none yet
    reward_time: datetime | None  # None also if it is the default reward
    action: int
    pscore: float


NAMES: dict[str, tuple[str, ...]] = {
    "log": LogRow._fields,
    "obp": ("action", "arm", "reward", "pscore"),
}


def log_rows(store: Store, current: CurrentModel, after: int, page: int) -> Iterator[LogRow]:
    """Yield the decisions numbered above ``after``, read a page at a time."""
    while rows := store.log(after, page):
        for row in rows:
            model, chance = current.model_name(row.model), row.probability
            rewarded = None if row.rewarded is None else _date(row.rewarded)
            yield LogRow(
                row.number, row.id.hex(), row.user_name, row.arm, chance, model,
                _date(row.time), row.reward, rewarded, row.arm_id - 1, chance,
            )  # fmt: skip
        after = rows[-1].number


def _date(microseconds: float) -> datetime:
    return datetime.fromtimestamp(microseconds / 1e6, UTC)


def export(rows: Iterable[LogRow], form: Format, columns: Columns = "log") -> Iterator[bytes]:
    """Yield the log in pieces that together are one file; "obp" is of rewarded decisions only."""
    names = NAMES[columns]
    chosen = (
        {name: getattr(row, name) for name in names}
        for row in rows
        if columns == "log" or row.reward is not None
    )
    return _ndjson(chosen) if form == "ndjson" else _parquet(chosen, names)


def _ndjson(rows: Iterator[Row]) -> Iterator[bytes]:
    while chunk := list(islice(rows, CHUNK)):
        lines = (json.dumps(row, default=datetime.isoformat) for row in chunk)
        yield "".join(f"{line}\n" for line in lines).encode()


def _parquet(rows: Iterator[Row], names: tuple[str, ...]) -> Iterator[bytes]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    time = pa.timestamp("us", "UTC")
    known = {"number": pa.int64(), "action": pa.int64(), "time": time, "reward_time": time}
    known |= dict.fromkeys(("probability", "reward", "pscore"), pa.float64())
    schema = pa.schema([(name, known.get(name, pa.string())) for name in names])
    sink = io.BytesIO()
    with ParquetWriter(sink, schema) as writer:
        while chunk := list(islice(rows, CHUNK)):
            writer.write_table(pa.Table.from_pylist(chunk, schema=schema))
            yield _taken(sink)
    yield _taken(sink)


def _taken(sink: io.BytesIO) -> bytes:
    written = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return written
