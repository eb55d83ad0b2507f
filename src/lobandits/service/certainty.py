"""How sure a policy is of its users' states."""

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.orders import LatentOrders
from lobandits.policies import MTS, Policy
from lobandits.policies.families import OrderPolicy
from lobandits.policies.mts import log_posterior
from lobandits.projection import projection_losses

PARTS = 10


def state_posteriors(policy: Policy, counts: IntArray, sums: FloatArray) -> FloatArray | None:
    r"""Return how likely each state is for each user, (n_users, n_states).

    .. math:: P(s) \propto \exp(-L(s) / (2 \sigma^2)), \quad
        L(s) = \min_{\mu \in H_s} \sum_a N_a (\mu_a - \hat\mu_a)^2

    where orders are known, and mTS's posterior where means are. None where a policy has no
    states.

    Parameters
    ----------
    policy
        A policy that all users share.
    counts, sums
        Plays of each arm and the sums of their rewards, (n_users, n_arms).

    Examples
    --------
    >>> import lobandits as lob
    >>> policy = lob.LobTS(lob.LatentOrders.from_rankings([[0, 1], [1, 0]]), sigma=1.0)
    >>> state_posteriors(policy, np.array([[1, 1]]), np.array([[3.0, 1.0]])).round(3)
    array([[0.731, 0.269]])
    """
    if isinstance(policy, OrderPolicy) and isinstance(policy.orders, LatentOrders):
        weights = counts.astype(np.float64)
        means = np.divide(sums, weights, out=np.zeros_like(weights), where=counts > 0)
        losses = projection_losses(means, weights, policy.orders).min(axis=2)
        return _normalized(-losses / (2 * policy.sigma**2))
    if isinstance(policy, MTS) and policy.n_users is None:
        logs = np.empty((len(counts), policy.n_states))
        for row, count, total in zip(logs, counts, sums, strict=True):
            log_posterior(count, total, policy._states, 0, row)
        return _normalized(logs)
    return None


def _normalized(logs: FloatArray) -> FloatArray:
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares: FloatArray = odds / odds.sum(axis=1, keepdims=True)
    return shares


def certainty(policy: Policy, counts: IntArray, sums: FloatArray) -> list[int] | None:
    """Return how many users have their most likely state's posterior in each tenth of 0 to 1.

    Examples
    --------
    >>> import lobandits as lob
    >>> policy = lob.LobTS(lob.LatentOrders.from_rankings([[0, 1], [1, 0]]), sigma=1.0)
    >>> certainty(policy, np.array([[1, 1]]), np.array([[3.0, 1.0]]))
    [0, 0, 0, 0, 0, 0, 0, 1, 0, 0]
    """
    posteriors = state_posteriors(policy, counts, sums)
    if posteriors is None:
        return None
    parts = np.minimum(posteriors.max(axis=1) * PARTS, PARTS - 1).astype(np.int64)
    return [int(n) for n in np.bincount(parts, minlength=PARTS)]
