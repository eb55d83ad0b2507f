"""PriorPolicy: what policies share that know a prior learned from past users."""

from dataclasses import dataclass, field
from functools import cached_property

from lobandits.beliefs.prior import HasPrior, Prior, checked_prior
from lobandits.policies.policy import Policy
from lobandits.statistics import State


@dataclass(frozen=True)
class PriorPolicy(Policy[State]):
    """A policy that knows a prior: of a model from `learn`, a `Prior`, or `Prior.from_orders`.

    Parameters
    ----------
    prior
        As in `LobBayes`.
    """

    prior: HasPrior = field(repr=False, metadata={"decode": Prior.from_dict})
    n_arms: int = field(init=False)
    arms: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        prior = checked_prior(self.prior)
        self._set(prior=prior, n_arms=prior.n_arms, arms=prior.arms)
        super().__post_init__()

    @property
    def _prior(self) -> Prior:
        return self.prior.prior

    @cached_property
    def sigma(self) -> float:
        """The standard deviation of a reward, which tells users who change from noise."""
        return self._prior.sigma
