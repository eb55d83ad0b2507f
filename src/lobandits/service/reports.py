"""What people ask of a service: one user, and how it goes overall; plain data, ready for JSON."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.orders import LatentOrders
from lobandits.policies import MTS, OrderPolicy, Policy, State
from lobandits.policies.mts import log_posterior
from lobandits.projection import projection_losses
from lobandits.service.model import CurrentModel, Model, state_of
from lobandits.service.store import Store
from lobandits.service.store.queries import read_activity, recent_statistics

if TYPE_CHECKING:
    from lobandits.service.decisions import DecisionService


def state_posterior(policy: Policy, state: State) -> FloatArray | None:
    r"""Return the users' posterior of the latent states, (n_users, n_states).

    From a uniform prior (MTS: its own): with known means the Gaussian likelihood of all rewards,
    with known orders :math:`\exp(-L(s) / (2 \sigma^2))` of the best means in the order of s.
    None for policies that know nothing of states.
    """
    if isinstance(policy, MTS):
        logs = np.empty((state.n_users, policy.n_states))
        for user, out in enumerate(logs):
            log_posterior(state.counts[user], state.sums[user], policy._states, 0, out)
    elif isinstance(policy, OrderPolicy):
        means = np.nan_to_num(state.means)
        losses = projection_losses(means, state.counts.astype(np.float64), policy.orders)
        logs = -losses.min(axis=-1) / (2 * policy.sigma**2)
    else:
        return None
    weights: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def user_report(
    current: CurrentModel, user: str, statistics: Mapping[int, tuple[int, float]]
) -> dict[str, Any]:
    """Return plays and means of the model's arms, and of other arms that were played."""
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


def explanation(model: Model, statistics: Mapping[int, tuple[int, float]]) -> dict[str, Any]:
    """Return what `Policy.explain` says, with the state posterior; None is no finite number."""
    policy = model.policy
    cells = [statistics.get(number, (0, 0.0)) for number in model.ids]
    plays, totals = zip(*cells, strict=True)
    state = state_of(policy, np.array([plays]), np.array([totals]))
    told = policy.explain(state)
    posterior = state_posterior(policy, state)
    states = told.states
    if posterior is not None:
        states = states or [{"state": s} for s in range(posterior.shape[1])]
        for row, chance in zip(states, posterior[0].tolist(), strict=True):
            row["posterior"] = chance
    return {
        "model": model.name,
        "policy": repr(policy),
        "why": [_finite(row) for row in told.arms],
        "states": [_finite(row) for row in states],
        "notes": list(told.notes),
    }


def describe(service: "DecisionService") -> dict[str, Any]:
    """Return the model that decides now: its name, arms and ranks, and all of its policy.

    The rank of an arm in a state is 1 plus the number of arms above it.
    """
    service.ready()
    name, policy = service.model, service.policy
    orders = getattr(policy, "orders", None)
    ranks = 1 + orders.precedes.sum(axis=1) if isinstance(orders, LatentOrders) else None
    return {
        "model": name,
        "policy": policy.name,
        "arms": list(policy.arms),
        "ranks": None if ranks is None else ranks.tolist(),
        "definition": policy.to_dict(),
    }


def activity(store: Store, model: Model, now: int, minutes: int, sample: int) -> dict[str, Any]:
    """Return decisions and rewards of each minute and arm, and how sure the states are."""
    last = now // 60_000_000
    first = last - minutes + 1
    found = [row for row in read_activity(store, first) if row[0] <= last]
    arms = list(dict.fromkeys([*model.policy.arms, *(row[1] for row in found)]))
    decisions, rewards = np.zeros((2, len(arms), minutes), np.int64)
    totals = np.zeros((len(arms), minutes))
    for minute, arm, *sums in found:
        cell = arms.index(arm), minute - first
        decisions[cell], rewards[cell], totals[cell] = sums
    shares, means = _ratios(decisions, decisions.sum(axis=0)), _ratios(totals, rewards)
    times = [datetime.fromtimestamp(60 * minute, UTC) for minute in range(first, last + 1)]
    return {
        "model": model.name,
        "minutes": [time.isoformat() for time in times],
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


def certainty(store: Store, model: Model, sample: int) -> dict[str, Any]:
    """Return, for the users of the last decisions, the chance of their most likely state.

    For policies that know no states it is the chance of the most likely arm.
    """
    policy = model.policy
    of = "state" if isinstance(policy, MTS | OrderPolicy) else "arm"
    users, stored = recent_statistics(store, sample)
    chances: list[float] = []
    if users:
        state = state_of(policy, *model.table(users, stored))
        posterior = state_posterior(policy, state)
        odds = policy.propensities(state) if posterior is None else posterior
        chances = odds.max(axis=1).tolist()
    return {"of": of, "users": len(users), "chances": chances}


def _ratios(parts: FloatArray | IntArray, wholes: IntArray) -> list[list[float | None]]:
    """Return parts / wholes, None where the whole is 0."""
    safe = np.where(wholes > 0, wholes, np.nan)
    return [[None if math.isnan(x) else x for x in row] for row in (parts / safe).tolist()]


def _finite(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in row.items()
    }
