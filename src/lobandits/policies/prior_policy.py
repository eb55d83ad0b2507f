"""PriorPolicy: what policies share that know a prior learned from past users."""

import warnings
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import FloatArray, user_indices
from lobandits.beliefs.features import Table, columns_of
from lobandits.beliefs.prior import HasPrior, Prior, checked_prior
from lobandits.errors import LobWarning
from lobandits.policies.policy import Policy
from lobandits.statistics import State

LIFTED = 3  # arms that a feature moves, in words


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

    # What is known of users besides rewards ----------------------------------------------------

    @property
    def feature_columns(self) -> int:
        """The number of columns of the features that the model knows."""
        effects = self._prior.features
        return 0 if effects is None else len(effects.features.columns)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features that the model knows."""
        effects = self._prior.features
        return () if effects is None else effects.features.names

    def silent_features(self, features: Table) -> dict[str, int]:
        """Return how many values of each feature say nothing: missing, or never seen."""
        effects = self._prior.features
        return {} if effects is None else effects.features.encode_counting(features)[1]

    def describe(self, state: State, features: Table, users: ArrayLike | None = None) -> None:
        """Write what is known of users into ``state``; unknown names are refused.

        Values that the model never saw, and missing ones, are the population's. A model without
        features says, once, which were sent in vain.
        """
        rows = np.arange(state.n_users) if users is None else user_indices(users, state.n_users)
        effects = self._prior.features
        if effects is None or state.features is None:
            self._say_in_vain(features)
            return
        state.features[rows] = effects.encode(features, len(rows))

    def _say_in_vain(self, features: Table) -> None:
        names = [] if isinstance(features, np.ndarray) else list(columns_of(features)[0])
        if names and "_said" not in vars(self):
            self._set(_said=True)
            warnings.warn(
                f"the model of this {self.name} knows no features, so {', '.join(names)} "
                f"{'was' if len(names) == 1 else 'were'} sent in vain; learn with features=[...]",
                LobWarning,
                stacklevel=4,
            )

    def lifts(self, state: State) -> FloatArray | None:
        """Return what features add to users' tastes, (n_users, n_arms); None where nothing."""
        return self._prior.lifts(state.features)


def by_features(prior: Prior, state: State) -> tuple[dict[str, FloatArray], list[str]]:
    """Return what one user's features did for each arm's mean reward, and say it in words.

    The column is the posterior mean less that of the same user if nothing were known: less and less
    as rewards come.
    """
    effects, lifts = prior.features, prior.lifts(state.features)
    if effects is None or state.features is None or lifts is None:
        return {}, []
    x = state.features[0]
    if not x.any():
        return {}, ["Nothing is known of this user that the model's features are of."]
    counts, sums = state.counts, state.sums
    with_them = prior.posterior(counts, sums, state.features)[1][0]
    moved = with_them - prior.posterior(counts, sums)[1][0]
    by = prior._by_column
    words = []
    for name, place in effects.features.places.items():
        part = by[:, place] @ x[place]
        if np.abs(part).max() > 0.1 * np.abs(lifts[0]).max():
            order = np.argsort(-np.abs(part), kind="stable")[:LIFTED]
            words.append(f"{name}: " + ", ".join(f"{prior.arms[a]} {part[a]:+.2g}" for a in order))
    unit = "" if prior.likelihood.exact else f" (on the scale of {prior.likelihood.name} tastes)"
    return {"by features": moved}, [f"Features move this user{unit}: {'; '.join(words)}."]
