"""What is known of a user, and what speaks for each arm."""

from typing import Any

from lobandits.basics.finite import finite
from lobandits.rules.choices import normalised
from lobandits.service.deciding import Rules
from lobandits.service.model import Model, Places
from lobandits.service.observers.activity import CONTROL, MODEL
from lobandits.service.store.models import StoredNames
from lobandits.service.store.transaction import StoredStatistics
from lobandits.statistics import FadingState, State

Row = dict[str, Any]


def user_report(
    model: Model, names: StoredNames, user: str, stored: StoredStatistics, now: int
) -> Row:
    """Return plays and means of the model's arms, and of others that were played.

    With a half-life, also what the rewards weigh now, and whether the user has changed: if not,
    rewards of all time decide.
    """
    state = model.state([0], stored, now)
    columns = zip(stored.arms.tolist(), stored.plays.tolist(), stored.totals.tolist(), strict=True)
    cells = dict.fromkeys(model.ids, (0, 0.0)) | {arm: tuple(cell) for arm, *cell in columns}
    arms = {
        names.arm(number): {"plays": plays, "mean": total / plays if plays else None}
        for number, (plays, total) in cells.items()
    }
    plays = sum(row["plays"] for row in arms.values())
    if not isinstance(state, FadingState):
        return {"user": user, "plays": plays, "arms": arms}
    weights = state.recent[0].tolist()
    for arm, weight in zip(model.policy.arms, weights, strict=True):
        arms[arm]["recent"] = weight
    about = {"recent": sum(weights), "changed": bool(state.changed(model.policy.change_limit)[0])}
    return {"user": user, "plays": plays, **about, "arms": arms}


def explanation(model: Model, state: State, places: Places, rules: Rules, controlled: bool) -> Row:
    """Return what `Policy.explain` says of a choice among the arms at some places of the model.

    With the state posterior; None is no finite number. Probabilities are those that are served.
    """
    policy = model.policy
    allowed = model.allowed([places])
    told = policy.explain(state, allowed=allowed)
    served = normalised(rules.odds(model, state, allowed, [controlled]))[0].tolist()
    for row, chance in zip(told.arms, served, strict=True):
        row["probability"] = chance
    posterior = policy.state_posterior(policy.seen(state))
    states = told.states
    if posterior is not None:
        states = states or [{"state": s} for s in range(posterior.shape[1])]
        for row, chance in zip(states, posterior[0].tolist(), strict=True):
            row["posterior"] = chance
    return {
        "model": model.name,
        "policy": repr(policy),
        "why": finite([row for row in told.arms if row.get("allowed", True)]),
        "states": finite(states),
        "notes": list(told.notes),
        "group": None if rules.control is None else (CONTROL if controlled else MODEL),
    }
