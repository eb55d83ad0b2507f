r"""Does the model fit: the share of users whom no state explains.

Under the order of the right state, the averages y_a of n_a rewards are as near to the order as
to the true means, so the least

.. math:: \min_s \min_{\mu \in H_s} \sum_a n_a (y_a - \mu_a)^2 / \sigma^2

is at most a chi-square with as many degrees of freedom as arms were played. A user is unexplained
where it exceeds all but 1 in 100 of those. States with known means are compared with these
instead. Of a prior it is by how much less likely a user's rewards are than a typical user's,

.. math:: \min_s 2 \, \ell_s(g(m_s)) - 2 \, \ell_s(y), \qquad
          \ell_s(y) = \log p_s(n y) - \max_\eta \log p(n y \mid \eta),

a deviance; for Gaussian rewards it is the squared distance of the averages from a state's means,
in units of what its users and their rewards vary by.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.beliefs import Prior
from lobandits.beliefs.likelihood import FAR
from lobandits.orders import LatentOrders
from lobandits.policies import Policy, State
from lobandits.projection import projection_losses
from lobandits.statistics import FadingState

MOST_LOSSES = 10_000_000  # users x states x arms^2 that are worked on at once
LEVEL = 0.01  # of users of a right model, at most, are called unexplained


def fit_report(policy: Policy, state: State) -> dict[str, Any] | None:
    """Return how many users with rewards no state explains; None for policies without states."""
    told = state.take(np.flatnonzero(state.counts.sum(axis=1) > 0))
    found = unexplained(policy, told)
    if found is None:
        return None
    n = int(found.size)
    return {"users": n, "unexplained": float(found.mean()) if n else None, "expected": LEVEL}


def recent_report(policy: Policy, state: State) -> dict[str, Any] | None:
    """Return how much of what is known of users is recent, and how many changed; None: for ever."""
    if not isinstance(state, FadingState):
        return None
    plays = state.plays
    known = plays > 0
    shares = state.recent.sum(axis=1)[known] / plays[known]
    n = int(known.sum())
    return {
        "users": n,
        "share": float(shares.mean()) if n else None,
        "changed": float(state.changed(policy.change_limit)[known].mean()) if n else None,
    }


def unexplained(policy: Policy, state: State) -> BoolArray | None:
    """Return which users no state explains, (n_users,)."""
    losses = _least_losses(policy, state)
    if losses is None:
        return None
    from scipy.special import chdtrc

    played = (state.counts > 0).sum(axis=1)
    return np.asarray(chdtrc(np.maximum(played, 1), losses) < LEVEL)


def _least_losses(policy: Policy, state: State) -> FloatArray | None:
    """Return the loss of the state that fits best, in units of the noise, (n_users,)."""
    prior, sigma = getattr(policy, "prior", None), getattr(policy, "sigma", None)
    if isinstance(prior, Prior):
        return _least_under_prior(prior, state.counts.astype(np.float64), state.sums)
    orders, means = getattr(policy, "orders", None), getattr(policy, "state_means", None)
    if not sigma:
        return None
    if isinstance(orders, LatentOrders):
        values = np.where(state.counts > 0, state.means, 0.0)
        weights, some = state.counts.astype(np.float64), max(1, MOST_LOSSES // orders.precedes.size)
        least = [
            projection_losses(values[i : i + some], weights[i : i + some], orders).min(axis=(1, 2))
            for i in range(0, state.n_users, some)
        ]
        return np.asarray(np.concatenate([np.empty(0), *least]) / sigma**2)
    if means is not None:
        gaps = np.where(state.counts > 0, state.means, 0.0)[:, None] - np.asarray(means)
        squares = state.counts[:, None] * gaps**2
        return np.asarray(squares.sum(axis=2).min(axis=1) / sigma**2)
    return None


def _least_under_prior(prior: Prior, counts: FloatArray, sums: FloatArray) -> FloatArray:
    """Return how far users' rewards are from those of a typical user, at the nearest component."""
    least = np.full(len(counts), np.inf)
    for one in _components(prior):
        typical = _likely(one, counts, counts * prior.likelihood.mean(one.means[0]))
        least = np.minimum(least, 2.0 * (typical - _likely(one, counts, sums)))
    return least


def _likely(one: Prior, counts: FloatArray, sums: FloatArray) -> FloatArray:
    """Return users' log evidence over that of tastes which fit their rewards best, (n_users,)."""
    kind, number = one.likelihood, np.where(counts > 0, counts, 1.0)
    low, high = kind.mean(np.array([-FAR, FAR]))
    mean = sums / number if kind.exact else np.clip(sums / number, low, high)
    best = np.where(counts > 0, kind.log_density(number, sums, kind.link(mean)), 0.0)
    likely: FloatArray = one.log_evidence(counts, sums) - best.sum(axis=1)
    return likely


def _components(prior: Prior) -> Iterator[Prior]:
    """Give a prior of each state alone, and where the scale is unknown at each of its factors."""
    further = prior.directions
    for factor in prior.factors.tolist():
        for s in range(prior.n_states):
            yield Prior(
                prior.arms,
                np.ones(1),
                factor * prior.means[[s]],
                prior.loadings,
                factor**2 * prior.state_own[s],
                prior.scales[[s]],
                prior.likelihood,
                directions=None if further is None else factor * further[[s]],
            )
