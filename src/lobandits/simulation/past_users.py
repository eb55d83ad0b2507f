"""PastUsers: a log of the users who came before, and the prior that it teaches."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits.basics.checks import whole
from lobandits.basics.frozen import Frozen
from lobandits.beliefs import LIKELIHOODS, Prior
from lobandits.errors import LobInputError
from lobandits.simulation.problems import Problems
from lobandits.simulation.rewards import ADDED, WAYS, pay
from lobandits.simulation.streams import Stream

if TYPE_CHECKING:
    from lobandits.learning import RewardTable

PAST_REWARDS = 60  # of each past user, unless told otherwise


@dataclass(frozen=True)
class PastUsers(Frozen):
    """Users who each played some random arms, with the noise of their problems.

    The log is drawn, and the prior learned from it, when first asked for.

    Parameters
    ----------
    problems
        Of the past users; what they know of orders and states teaches nothing.
    n_rewards
        Rewards of each user.
    seed
        Names the arms that they played, and the noise.
    """

    problems: Problems
    n_rewards: int = PAST_REWARDS
    seed: int = 0

    def __post_init__(self) -> None:
        self._set(
            n_rewards=whole("past_rewards", self.n_rewards),
            seed=whole("past_seed", self.seed, least=0),
        )
        if self.problems.n_users < 2:
            raise LobInputError(
                "a prior is learned from at least two past users, got 1; raise past_users"
            )

    @cached_property
    def table(self) -> "RewardTable":
        """The log, summed up."""
        from lobandits.learning import RewardTable

        p, n = self.problems, self.problems.n_users
        stream = np.random.SeedSequence(self.seed, spawn_key=(int(Stream.PAST_REWARDS),))
        rng, users = np.random.default_rng(stream), np.arange(n)
        given = p.noise_location, p.gaps, p.sigma, *(p.bounds or (-np.inf, np.inf))
        counts, rewards, regret = np.zeros((n, p.n_arms), np.int64), np.empty(n), np.empty(n)
        sums, squares = np.zeros(counts.shape), np.zeros(counts.shape)
        for _ in range(self.n_rewards):
            arms = rng.integers(p.n_arms, size=n)
            pay(arms, rng.standard_normal(n), *given, WAYS.get(p.rewards, ADDED), rewards, regret)
            counts[users, arms] += 1
            sums[users, arms] += rewards
            squares[users, arms] += rewards * rewards
        if not counts.any(axis=0).all():
            raise LobInputError(
                f"{n} past users with {self.n_rewards} rewards each never tried some arm; raise "
                "past_users or past_rewards"
            )
        return RewardTable(users, p.arms, counts, sums, squares)

    @cached_property
    def prior(self) -> Prior:
        """What the log teaches; the number of states and sigma are learned, too."""
        from lobandits.learning.fit_prior import fit_prior

        kind = self.problems.rewards
        likelihood = kind if kind in LIKELIHOODS else "gaussian"
        return fit_prior(self.table, likelihood, seed=self.seed).prior

    def __getstate__(self) -> dict[str, Any]:
        """Keep a prior that was learned: other processes need not learn it again."""
        learned = {"prior": self.prior} if "prior" in vars(self) else {}
        return super().__getstate__() | learned
