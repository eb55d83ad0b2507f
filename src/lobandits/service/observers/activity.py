"""How it goes: decisions and rewards by minute, arm, group and model; how sure states are."""

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.basics.finite import finite
from lobandits.rules.choices import normalised
from lobandits.service.fit import fit_report, recent_report
from lobandits.service.model import Model
from lobandits.service.observers.observer import Rewarded, summed
from lobandits.service.store import Store
from lobandits.service.store.history import recent_statistics
from lobandits.service.store.models import OF, StoredNames
from lobandits.service.store.tables import MINUTE, activity, as_date, group_activity, microseconds
from lobandits.service.store.transaction import NewDecision, Transaction

MODEL, CONTROL, CALLER = "model", "control", "caller"
"""Who decided: the model, the control group's policy, or in apprentice mode the caller itself."""
ARM = attrgetter("arm_id")  # of a decision
GROUP = attrgetter("model", "control_group", "comparison_id")
KEPT_MINUTES = 30 * 24 * 60
EVER = 0  # the minute under which sums over all time are kept
MOST_CELLS = 100_000  # minutes x arms; longer reports add up several minutes

Row = dict[str, Any]


class Activity:
    """Adds up what happens by minute, of arms and of groups; ``writer`` is this process."""

    def __init__(self, writer: int) -> None:
        self._writer = writer

    def note(
        self,
        transaction: Transaction,
        now: int,
        made: Sequence[NewDecision],
        rewarded: Sequence[Rewarded],
    ) -> None:
        """Add decisions and rewards; a default reward is none of an arm."""
        minute, writer = now // MINUTE, self._writer
        arms = summed(map(ARM, made), ((ARM(d), r) for d, r, default in rewarded if not default))
        groups = summed(map(GROUP, made), ((GROUP(d), r) for d, r, _ in rewarded))
        transaction.add_sums(activity, [(minute, arm, writer, *sums) for arm, sums in arms.items()])
        transaction.add_sums(
            group_activity,
            [
                (when, model, group or MODEL, comparison or 0, writer, *sums)
                for (model, group, comparison), sums in groups.items()
                for when in (EVER, minute)
            ],
        )


def minute_sums(store: Store, problem: str, since: int, step: int) -> Sequence[Any]:
    """Return (part, arm, decisions, rewards, total): part 0 has ``step`` minutes from ``since``."""
    return store.rows(
        "SELECT (minute - :since) / :step, name, sum(decisions), sum(rewards), sum(total) "
        "FROM activity JOIN arms ON id = arm_id "
        f"WHERE minute >= :since AND {OF} GROUP BY 1, 2",
        problem=problem,
        since=since,
        step=step,
    )


def drop_old_minutes(store: Store, now: int) -> None:
    """Delete the sums of minutes that are no longer kept."""
    oldest = now // MINUTE - KEPT_MINUTES
    store.execute("DELETE FROM activity WHERE minute < :oldest", oldest=oldest)
    store.execute(
        f"DELETE FROM group_activity WHERE minute < :oldest AND minute > {EVER}", oldest=oldest
    )


def group_totals(store: Store, problem: str) -> Sequence[Any]:
    """Return (comparison, group, decisions, rewards, total) over all time."""
    return store.rows(
        "SELECT comparison_id, control_group, sum(decisions), sum(rewards), sum(total) "
        "FROM group_activity JOIN models ON model = version "
        f"WHERE minute = {EVER} AND {OF} GROUP BY comparison_id, control_group",
        problem=problem,
    )


def group_minutes(store: Store, problem: str, since: int, step: int = 1) -> Sequence[Any]:
    """Return (part, group, model, decisions, rewards, total): parts have ``step`` minutes."""
    return store.rows(
        "SELECT (minute - :since) / :step, control_group, model, "
        "sum(decisions), sum(rewards), sum(total) "
        "FROM group_activity JOIN models ON model = version "
        f"WHERE minute > {EVER} AND minute >= :since AND {OF} "
        "GROUP BY 1, 2, 3",
        problem=problem,
        since=since,
        step=step,
    )


def activity_report(
    store: Store, names: StoredNames, model: Model, now: int, minutes: int, sample: int
) -> Row:
    """Return what happened by minute, arm, group and model, how sure the states are, the fit."""
    step = math.ceil(minutes * len(model.policy.arms) / MOST_CELLS)
    parts = math.ceil(minutes / step)
    first = now // MINUTE - parts * step + 1
    starts = range(first, first + parts * step, step)
    found = [row for row in minute_sums(store, model.problem, first, step) if row[0] < parts]
    arms = list(dict.fromkeys([*model.policy.arms, *(row[1] for row in found)]))
    places = {arm: place for place, arm in enumerate(arms)}
    decisions, rewards = np.zeros((2, len(arms), parts), np.int64)
    totals = np.zeros((len(arms), parts))
    for part, arm, *sums in found:
        cell = places[arm], part
        decisions[cell], rewards[cell], totals[cell] = sums
    shares, means = _ratios(decisions, decisions.sum(axis=0)), _ratios(totals, rewards)
    return {
        "model": model.name,
        "problem": model.problem,
        "minutes": [as_date(MINUTE * minute).isoformat() for minute in starts],
        "step": step,
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
        **_by_group_and_model(group_minutes(store, model.problem, first, step), names, parts),
        **_certainty_and_fit(store, model, sample),
    }


def _by_group_and_model(rows: Sequence[Any], names: StoredNames, parts: int) -> dict[str, Any]:
    """Return decisions, rewards and their mean by minute of each group and model, and changes."""
    groups: dict[str, FloatArray] = {}
    models: dict[str, FloatArray] = {}
    for part, group, version, *sums in rows:
        if part < parts:
            for table, name in ((groups, group), (models, names.model(version))):
                table.setdefault(name, np.zeros((3, parts)))[:, part] += [float(x) for x in sums]
    return {
        "groups": {name: _series(sums) for name, sums in groups.items()},
        "models": {name: _series(sums) for name, sums in models.items()},
        "changes": _changes(models),
    }


def _series(sums: FloatArray) -> Row:
    decisions, rewards = sums[:2].astype(np.int64)
    (means,) = _ratios(sums[2:], rewards)
    return {"decisions": decisions.tolist(), "rewards": rewards.tolist(), "mean": means}


def _changes(models: dict[str, FloatArray]) -> list[Row]:
    """Return the places of the minutes in which another model began to decide."""
    changes: list[Row] = []
    current = None
    decided = np.array([sums[0] for sums in models.values()])
    for place in np.flatnonzero(decided.sum(axis=0)) if models else ():
        busiest = list(models)[int(decided[:, place].argmax())]
        if current not in (None, busiest):
            changes.append({"place": int(place), "model": busiest})
        current = busiest
    return changes


def _certainty_and_fit(store: Store, model: Model, sample: int) -> Row:
    """Return the chance of the most likely state, or else arm, of the last decisions' users.

    And how many of them no state explains.
    """
    policy = model.policy
    of = "arm" if policy.state_posterior(policy.new_state(1)) is None else "state"
    fading = model.half_life is not None
    users, stored = recent_statistics(store, model.problem, sample, fading)
    state = model.state(users, stored, microseconds())
    seen = policy.seen(state)
    chances: list[float] = []
    if users:
        posterior = policy.state_posterior(seen)
        odds = normalised(policy.odds(seen, policy.all_arms)) if posterior is None else posterior
        chances = odds.max(axis=1).tolist()
    return {
        "certainty": {"of": of, "users": len(users), "chances": chances},
        "fit": fit_report(policy, seen),
        "recent": recent_report(policy, state),
    }


def _ratios(parts: FloatArray | IntArray, wholes: IntArray) -> list[list[float | None]]:
    """Return parts / wholes, None where the whole is 0."""
    ratios: list[list[float | None]] = finite(parts / np.where(wholes > 0, wholes, np.nan))
    return ratios
