"""mTS: Thompson sampling of the latent state, after Hong et al. (2020)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.beliefs.state_means import StateTables, log_posteriors, state_tables
from lobandits.policies.explanation import Details
from lobandits.policies.means_policy import MeansPolicy
from lobandits.policies.shares import checked_shares, log_shares
from lobandits.rules.choices import draw_weighted, likeliness, normalised, pick
from lobandits.statistics import State


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
        return state_tables(self._tables, self.sigma, log_shares(self.shares, self.n_states))

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the chance that the state drawn has each arm as its best allowed one."""
        best, _ = self._best(allowed)
        odds = self._shared(likeliness(self._log_posteriors(state)), best)
        first = self._untried(state, best)
        return np.where(first.any(axis=1, keepdims=True), first, odds)

    def decide(self, state: State, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Return a best allowed arm of one state drawn."""
        best, _ = self._best(allowed)
        drawn, left = draw_weighted(likeliness(self._log_posteriors(state)), noise)
        chosen = pick(best[np.arange(state.n_users) if len(best) > 1 else 0, drawn], left)
        first = self._untried(state, best)
        return np.where(first.any(axis=1), pick(first, noise), chosen)

    def _untried(self, state: State, best: BoolArray) -> BoolArray:
        """Return the best arms of some state that were never played, if these come first."""
        untried: BoolArray = self.best_arms_first & best.any(axis=1) & (state.counts == 0)
        return untried

    def _log_posteriors(self, state: State) -> FloatArray:
        return log_posteriors(state.counts.astype(np.float64), state.sums, self._states)

    def state_posterior(self, state: State) -> FloatArray:
        """Return P(s), (n_users, n_states)."""
        return normalised(likeliness(self._log_posteriors(state)))

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return each state's log-likelihood, relative to the best, and posterior."""
        with np.errstate(invalid="ignore"):
            likelihood = self._log_posteriors(state)[0] - self._states.log_shares
        columns = {
            "best arm": self._best_names(allowed),
            "log-likelihood": likelihood - np.nanmax(likelihood),
            "posterior": self.state_posterior(state)[0],
        }
        return Details(states=columns)
