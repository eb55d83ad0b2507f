"""mTS: Thompson sampling of the latent state, after Hong et al. (2020)."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, read_only
from lobandits.basics.kernel import kernel, lean
from lobandits.policies.choices import CUT, draw_weighted, exponentiate, pick, spread
from lobandits.policies.explanation import Details
from lobandits.policies.means_policy import MeansPolicy, allowed_means
from lobandits.policies.shares import checked_shares, log_shares
from lobandits.policies.state import State


class StateTables(NamedTuple):
    """Means of states as the kernels read them; u = 1 where all users share them.

    Up to a constant, log P(rewards | s) is ``sum_a (sum r - N c) slope[a, s] - N curve[a, s]``
    with c_a the middle of arm a's means: no large numbers cancel.
    """

    centres: FloatArray  # c_a, (u, k)
    slope: FloatArray  # (mu - c) / sigma^2, (u, k, m): states last, for SIMD
    curve: FloatArray  # (mu - c)^2 / (2 sigma^2), (u, k, m)
    log_shares: FloatArray  # (m,)
    means: FloatArray  # (u, m, k)


@dataclass(frozen=True)
class MTS(MeansPolicy[State]):
    r"""Sample a state from its posterior and play the state's best arm.

    .. math:: P(s) \propto p(s) \exp(-\sum_t (r_t - \mu_{s, a_t})^2 / (2 \sigma^2))

    States below 1e-12 of the most likely one have probability 0. Tied best arms are equally likely.

    Parameters
    ----------
    state_means
        Means of the arms, (n_states, n_arms), shared by all users, or
        (n_users, n_states, n_arms).
    sigma
        Standard deviation of rewards.
    shares
        The prior p(s), by default uniform.
    best_arms_first
        Play every arm that is the best of some state once before sampling.
    arms
        Names of the arms; by default ``"0", "1", ...``.

    Examples
    --------
    >>> policy = MTS([[1.0, 0.0], [0.0, 1.0]], sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, arms=0, rewards=1.0)
    >>> policy.probabilities(state).round(4)
    array([[0.6225, 0.3775]])
    """

    name = "mts"
    label = "mTS"
    style = ("#0072b2", "solid", "^")
    shares: FloatArray | None = None
    best_arms_first: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            shares=checked_shares(self.shares, self.n_states),
            best_arms_first=bool(self.best_arms_first),
        )

    @cached_property
    def _states(self) -> StateTables:
        means = self._tables
        centres = (means.max(axis=1) + means.min(axis=1)) / 2
        offsets = (means - centres[:, None, :]).transpose(0, 2, 1) / self.sigma
        return StateTables(
            centres=read_only(centres),
            slope=read_only(offsets / self.sigma),
            curve=read_only(offsets**2 / 2),
            log_shares=log_shares(self.shares, self.n_states),
            means=means,
        )

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the chance that the state drawn has each arm as its best allowed one."""
        first = self.best_arms_first
        return best_arm_odds(state.counts, state.sums, allowed, self._states, CUT, first)

    def decide(self, state: State, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Return the best allowed arm of one state drawn, without the odds of all."""
        chosen, first = np.empty(state.n_users, np.int64), self.best_arms_first
        sample(state.counts, state.sums, allowed, self._states, CUT, first, noise, chosen)
        return chosen

    def state_posterior(self, state: State) -> FloatArray:
        """Return P(s), (n_users, n_states)."""
        return posteriors(state.counts, state.sums, self._states, CUT)

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return each state's log-likelihood, relative to the best, and posterior."""
        logs = np.empty(self.n_states)
        log_posterior(state.counts[0], state.sums[0], self._states, 0, logs)
        with np.errstate(invalid="ignore"):
            likelihood = logs - self._states.log_shares
        columns = {
            "best arm": self._best_names(allowed),
            "log-likelihood": likelihood - np.nanmax(likelihood),
            "posterior": self.state_posterior(state)[0],
        }
        return Details(states=columns)


@lean
def log_posterior(
    counts: IntArray, sums: FloatArray, states: StateTables, row: int, out: FloatArray
) -> None:
    """Write log P(s), up to a constant, from one user's counts and sums. Cost O(m k)."""
    for s in range(len(out)):
        out[s] = states.log_shares[s]
    for a in range(len(counts)):
        n = counts[a]
        if n > 0:
            excess = sums[a] - n * states.centres[row, a]
            for s in range(len(out)):
                out[s] += excess * states.slope[row, a, s] - n * states.curve[row, a, s]


@kernel
def posteriors(counts: IntArray, sums: FloatArray, states: StateTables, cut: float) -> FloatArray:
    """Return P(s) of every user, (n, m)."""
    out = np.empty((len(counts), len(states.log_shares)))
    for u in range(len(counts)):
        log_posterior(counts[u], sums[u], states, u if len(states.centres) > 1 else 0, out[u])
        out[u] /= exponentiate(out[u], cut)
    return out


@lean
def mark_untried(
    counts: IntArray,
    states: StateTables,
    row: int,
    allowed: BoolArray,
    means: FloatArray,
    untried: BoolArray,
) -> bool:
    """Mark the arms that are the best of some state and were never played; tell if any are."""
    untried[:] = False
    found = False
    for s in range(states.means.shape[1]):
        top = allowed_means(states.means, row, s, allowed, means)
        for a in range(counts.shape[0]):
            untried[a] |= counts[a] == 0 and means[a] == top
            found |= untried[a]
    return found


@kernel
def sample(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    states: StateTables,
    cut: float,
    best_arms_first: bool,
    noise: FloatArray,
    chosen: IntArray,
) -> None:
    """Write the best allowed arm of a state drawn from each user's posterior. Cost O(n m k)."""
    (n, k), m = counts.shape, len(states.log_shares)
    weights, means, untried = np.empty(m), np.empty(k), np.empty(k, np.bool_)
    for u in range(n):
        some, row = allowed[u if len(allowed) > 1 else 0], u if len(states.centres) > 1 else 0
        if best_arms_first and mark_untried(counts[u], states, row, some, means, untried):
            chosen[u], _ = pick(untried, True, noise[u])
            continue
        log_posterior(counts[u], sums[u], states, row, weights)
        s, left = draw_weighted(weights, exponentiate(weights, cut), noise[u])
        top = allowed_means(states.means, row, s, some, means)
        chosen[u], _ = pick(means, top, left)


@kernel
def best_arm_odds(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    states: StateTables,
    cut: float,
    best_arms_first: bool,
) -> FloatArray:
    """Return the odds of `sample` over its noise, (n, k)."""
    (n, k), m = counts.shape, len(states.log_shares)
    odds = np.zeros((n, k))
    weights, means, untried = np.empty(m), np.empty(k), np.empty(k, np.bool_)
    for u in range(n):
        some, row = allowed[u if len(allowed) > 1 else 0], u if len(states.centres) > 1 else 0
        if best_arms_first and mark_untried(counts[u], states, row, some, means, untried):
            spread(untried, True, 1.0, odds[u])
            continue
        log_posterior(counts[u], sums[u], states, row, weights)
        exponentiate(weights, cut)
        for s in range(m):
            if weights[s] > 0.0:
                top = allowed_means(states.means, row, s, some, means)
                spread(means, top, weights[s], odds[u])
    return odds
