"""mTS: Thompson sampling of the latent state, after Hong et al. (2020)."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, finite_array, read_only
from lobandits._jit import kernel
from lobandits.errors import LobInputError
from lobandits.policies.base import Details
from lobandits.policies.families import (
    CUT,
    MeansPolicy,
    OneKernelPolicy,
    draw_top,
    exponentiate,
    pick,
    spread,
    spread_tops,
)
from lobandits.policies.state import State


class StateTables(NamedTuple):
    """Means of states as the kernels read them; u = 1 where all users share them.

    Up to a constant, log P(rewards | s) is ``sum_a (sum r - N c) slope[a, s] - N curve[a, s]``
    with c_a the middle of arm a's means: no large numbers cancel.
    """

    centres: FloatArray  # c_a, (u, k)
    slope: FloatArray  # (mu - c) / sigma^2, (u, k, m): states last, for SIMD
    curve: FloatArray  # (mu - c)^2 / (2 sigma^2), (u, k, m)
    log_prior: FloatArray  # (m,)
    best: BoolArray  # arms of the best mean, (u, m, k)


@dataclass(frozen=True, eq=False, repr=False)
class MTS(OneKernelPolicy, MeansPolicy):
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
    prior
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
    prior: FloatArray | None = None
    best_arms_first: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior is not None:
            prior = finite_array("prior", self.prior, ndim=1)
            if prior.shape != (self.n_states,) or (prior < 0).any() or not prior.sum() > 0:
                raise LobInputError(
                    f"prior must be {self.n_states} probabilities, one per state, got {self.prior}"
                )
            self._fix(prior=read_only(prior / prior.sum()))
        self._fix(best_arms_first=bool(self.best_arms_first))

    @cached_property
    def _states(self) -> StateTables:
        means = self._tables
        centres = (means.max(axis=1) + means.min(axis=1)) / 2
        offsets = (means - centres[:, None, :]).transpose(0, 2, 1) / self.sigma
        prior = np.ones(self.n_states) if self.prior is None else self.prior
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior)
        return StateTables(
            centres=read_only(centres),
            slope=read_only(offsets / self.sigma),
            curve=read_only(offsets**2 / 2),
            log_prior=read_only(log_prior),
            best=self._best,
        )

    def _play(self, state: State, noise: FloatArray, odds: FloatArray) -> IntArray:
        first = self.best_arms_first
        return play(state.counts, state.sums, self._states, CUT, first, noise, odds)

    def details(self, state: State) -> Details:
        """Return each state's log-likelihood, relative to the best, and posterior."""
        logs = np.empty(self.n_states)
        log_posterior(state.counts[0], state.sums[0], self._states, 0, logs)
        with np.errstate(invalid="ignore"):
            likelihood = logs - self._states.log_prior
        total = exponentiate(logs, CUT)
        columns = {
            "best arm": self._best_names(),
            "log-likelihood": likelihood - np.nanmax(likelihood),
            "posterior": logs / total,
        }
        return Details(states=columns)


@kernel
def log_posterior(
    counts: IntArray, sums: FloatArray, states: StateTables, row: int, out: FloatArray
) -> None:
    """Write log P(s), up to a constant, from one user's counts and sums. Cost O(m k)."""
    out[:] = states.log_prior
    for a in range(len(counts)):
        n = counts[a]
        if n > 0:
            excess = sums[a] - n * states.centres[row, a]
            slope, curve = states.slope[row, a], states.curve[row, a]
            for s in range(len(out)):
                out[s] += excess * slope[s] - n * curve[s]


@kernel
def mark_untried(counts: IntArray, best: BoolArray, untried: BoolArray) -> bool:
    """Mark the arms that are the best of some state and were never played; tell if any are."""
    for a in range(len(counts)):
        untried[a] = counts[a] == 0 and best[:, a].any()
    return bool(untried.any())


@kernel
def play(
    counts: IntArray,
    sums: FloatArray,
    states: StateTables,
    cut: float,
    best_arms_first: bool,
    noise: FloatArray,
    odds: FloatArray,
) -> IntArray:
    """Return the best arm of a state drawn from each user's posterior. Cost O(n m k).

    Without noise, write the odds of all arms.
    """
    n, k = counts.shape
    chosen = np.empty(len(noise), np.int64)
    weights = np.empty(len(states.log_prior))
    untried = np.empty(k, np.bool_)
    for u in range(n):
        row = u if len(states.centres) > 1 else 0
        if best_arms_first and mark_untried(counts[u], states.best[row], untried):
            if len(noise):
                chosen[u], _ = pick(untried, True, noise[u])
            else:
                spread(untried, True, 1.0, odds[u])
            continue
        log_posterior(counts[u], sums[u], states, row, weights)
        total = exponentiate(weights, cut)
        if len(noise):
            _, chosen[u] = draw_top(weights, total, states.best[row], noise[u])
        else:
            spread_tops(weights, total, states.best[row], odds[u])
    return chosen
