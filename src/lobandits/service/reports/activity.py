"""How it goes: decisions and rewards by minute and arm, and how sure users' states are."""

import math
from typing import Any

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.policies.policy import normalised
from lobandits.service.model import Model
from lobandits.service.served_policy import state_of
from lobandits.service.store import Store
from lobandits.service.store.history import minute_sums, recent_statistics
from lobandits.service.store.tables import MINUTE, as_date

Row = dict[str, Any]


def activity_report(store: Store, model: Model, now: int, minutes: int, sample: int) -> Row:
    """Return what happened by minute and arm, and how sure the states are."""
    last = now // MINUTE
    first = last - minutes + 1
    found = [row for row in minute_sums(store, model.problem, first) if row[0] <= last]
    arms = list(dict.fromkeys([*model.policy.arms, *(row[1] for row in found)]))
    decisions, rewards = np.zeros((2, len(arms), minutes), np.int64)
    totals = np.zeros((len(arms), minutes))
    for minute, arm, *sums in found:
        cell = arms.index(arm), minute - first
        decisions[cell], rewards[cell], totals[cell] = sums
    shares, means = _ratios(decisions, decisions.sum(axis=0)), _ratios(totals, rewards)
    return {
        "model": model.name,
        "minutes": [as_date(MINUTE * minute).isoformat() for minute in range(first, last + 1)],
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
    users, stored = recent_statistics(store, model.problem, sample)
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
    return [[None if math.isnan(x) else x for x in row] for row in ratios.tolist()]
