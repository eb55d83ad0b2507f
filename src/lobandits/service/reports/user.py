"""What is known of a user, and what speaks for each arm."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lobandits.policies.policy import normalised
from lobandits.service.control_group import CONTROL, MODEL, Rules
from lobandits.service.model import Model, Places
from lobandits.service.served_policy import state_of
from lobandits.service.store.models import StoredNames

Statistics = Mapping[int, tuple[int, float]]  # plays and total of each arm, by its number
Row = dict[str, Any]


def user_report(model: Model, names: StoredNames, user: str, statistics: Statistics) -> Row:
    """Return plays and means of the model's arms, and of others that were played."""
    numbers = dict.fromkeys([*model.ids, *statistics])
    cells = {names.arm(number): statistics.get(number, (0, 0.0)) for number in numbers}
    return {
        "user": user,
        "plays": sum(plays for plays, _ in cells.values()),
        "arms": {
            arm: {"plays": plays, "mean": total / plays if plays else None}
            for arm, (plays, total) in cells.items()
        },
    }


def explanation(
    model: Model, statistics: Statistics, places: Places, rules: Rules, controlled: bool
) -> Row:
    """Return what `Policy.explain` says of a choice among the arms at some places of the model.

    With the state posterior; None is no finite number. Probabilities are those that are served.
    """
    policy = model.policy
    cells = [statistics.get(number, (0, 0.0)) for number in model.ids]
    plays, totals = zip(*cells, strict=True)
    counts, sums, allowed = np.array([plays]), np.array([totals]), model.allowed([places])
    state = state_of(policy, counts, sums)
    told = policy.explain(state, allowed=allowed)
    served = normalised(model.odds(counts, sums, allowed, rules, [controlled]))[0].tolist()
    for row, chance in zip(told.arms, served, strict=True):
        row["probability"] = chance
    posterior = policy.state_posterior(state)
    states = told.states
    if posterior is not None:
        states = states or [{"state": s} for s in range(posterior.shape[1])]
        for row, chance in zip(states, posterior[0].tolist(), strict=True):
            row["posterior"] = chance
    return {
        "model": model.name,
        "policy": repr(policy),
        "why": _plain(row for row in told.arms if row.get("allowed", True)),
        "states": _plain(states),
        "notes": list(told.notes),
        "group": None if rules.control is None else (CONTROL if controlled else MODEL),
    }


def _plain(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    return [{key: _finite(value) for key, value in row.items()} for row in rows]


def _finite(value: Any) -> Any:
    """Return None for what JSON cannot hold, else the value."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
