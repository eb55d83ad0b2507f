"""What environments must give: problems, one per user, as arrays."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    finite_array,
    one_of,
    positive,
    read_only,
)
from lobandits.basics.frozen import Frozen
from lobandits.beliefs import Prior
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.simulation.arrivals import ARRIVALS, context_sets
from lobandits.simulation.rewards import Bounds, checked_bounds, expected_rewards, noise_location


class Past(Protocol):
    """What past users teach, learned when it is first asked for."""

    @property
    def prior(self) -> Prior:
        """A prior learned from their log."""


class Changes(Protocol):
    """How users change: what they are in each phase of so many rounds."""

    @property
    def every(self) -> int:
        """Rounds of a phase."""

    def phase(self, number: int) -> "Problems":
        """Return the same users in a phase; number 0 is the first."""


@dataclass(frozen=True)
class Problems(Frozen):
    r"""Bandit problems, one per user: playing arm a earns :math:`\mu_{u,a}` on average.

    Parameters
    ----------
    means
        Expected rewards, of shape (n_users, n_arms). Regret is measured with these.
    sigma
        Standard deviation of the noise, told to policies (1/2 suits Bernoulli rewards).
    states
        The latent state of each user; -1 where unknown.
    orders, state_means
        What policies see: orders, and means (n_states, n_arms) if any; for each user or all.
        Without orders, those of a prior that is given as ``past``, made for policies that ask.
    rewards
        "gaussian", "clipped", "bernoulli" or "poisson"; see :mod:`lobandits.simulation.rewards`.
    location, bounds
        Of clipped rewards: what the noise is added to, and (lowest, highest).
    residuals
        Of Gaussian rewards that are not: what rewards lie off their means, of which one is drawn
        for each reward in the place of normal noise.
    past
        Where `prior` comes from: a :class:`Prior`, or past users who teach one. Never the truth.
    arrivals
        Where arms are named ``"context: arm"``: how contexts come, "random" or "in turn". Users
        then choose among the arms of their context, and regret is against the best of these.
    changes
        How users change; by default never. Regret is against the best arm of the round.
    features
        What is known of users before they play, as the prior's features encode it: (n_users, p).

    Examples
    --------
    >>> orders = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]])
    >>> problems = Problems([[5.0, 3.0, 1.0]], sigma=1.0, states=[0], orders=orders)
    >>> problems.gaps
    array([[0., 2., 4.]])
    """

    means: FloatArray
    sigma: float
    states: IntArray
    orders: LatentOrders | UserOrders | None
    state_means: FloatArray | None = None
    rewards: str = "gaussian"
    location: FloatArray | None = None
    bounds: Bounds | None = None
    past: Prior | Past | None = None
    arrivals: str | None = None
    residuals: FloatArray | None = None
    changes: Changes | None = None
    features: FloatArray | None = None

    def __post_init__(self) -> None:
        states = np.asarray(self.states)
        if states.dtype.kind not in "iu":
            raise LobInputError(f"states must be whole numbers, got {states.dtype}")
        self._set(
            means=finite_array("means", self.means, ndim=2),
            sigma=positive("sigma", self.sigma),
            states=states.astype(np.int64),
        )
        if self.features is not None:
            features = finite_array("features", self.features, ndim=2)
            if len(features) != self.n_users:
                raise LobInputError(
                    f"features must have a row for each of {self.n_users} users, got "
                    f"{len(features)}"
                )
            self._set(features=features)
        self._check_orders()
        self._check_state_means()
        self._check_rewards()
        if self.arrivals is not None:
            one_of("arrivals", self.arrivals, ARRIVALS)
            context_sets(self.arms)

    def _check_orders(self) -> None:
        known = self._states
        if not isinstance(known, LatentOrders | UserOrders | Prior):
            raise LobInputError(
                f"orders must be LatentOrders or UserOrders, got {type(known).__name__}"
            )
        if known.n_arms != self.n_arms:
            raise LobInputError(f"orders have {known.n_arms} arms, but means have {self.n_arms}")
        if isinstance(known, UserOrders) and known.n_users != self.n_users:
            raise LobInputError(
                f"orders are for {known.n_users} users, but means for {self.n_users}"
            )
        if self.states.shape != (self.n_users,):
            raise LobInputError(
                f"states must have shape ({self.n_users},), got {self.states.shape}"
            )
        if not ((self.states >= -1) & (self.states < self.n_states)).all():
            raise LobInputError(f"states must lie between 0 and {self.n_states - 1}, or be -1")

    def _check_state_means(self) -> None:
        if self.state_means is None:
            return
        values = finite_array("state_means", self.state_means)
        shared = (self.n_states, self.n_arms)
        if values.shape not in (shared, (self.n_users, *shared)):
            raise LobInputError(
                f"state_means must have shape {shared} or {(self.n_users, *shared)}, "
                f"got {values.shape}"
            )
        self._set(state_means=values)

    def _check_rewards(self) -> None:
        if self.residuals is not None:
            if self.rewards != "gaussian" or not np.size(self.residuals):
                raise LobInputError(
                    f"residuals are for Gaussian rewards, and at least one, got "
                    f"{np.size(self.residuals)} for {self.rewards}"
                )
            self._set(residuals=finite_array("residuals", self.residuals, ndim=1))
        if self.rewards != "clipped":
            expected_rewards(self.rewards, self.means, self.sigma, None)
            return
        if self.location is None:
            raise LobInputError("clipped rewards need location, the means before clipping")
        location = finite_array("location", self.location, ndim=2)
        self._set(location=location, bounds=checked_bounds(self.bounds))
        expected = expected_rewards("clipped", location, self.sigma, self.bounds)
        if not np.allclose(expected, self.means, rtol=1e-6, atol=1e-9):
            raise LobInputError("means must be the expected clipped rewards of location")

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.means)

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return int(self.means.shape[1])

    @property
    def n_states(self) -> int:
        """Number of latent states."""
        return int(self._states.n_states)

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms."""
        arms: tuple[str, ...] = self._states.arms
        return arms

    @property
    def known_orders(self) -> LatentOrders | UserOrders:
        """The orders, or where none were given those of the prior."""
        known: LatentOrders | UserOrders = self.orders or self._states.orders
        return known

    @property
    def _states(self) -> Any:
        """What knows the arms and the number of states: the orders, or else the prior."""
        return self.past if self.orders is None else self.orders

    @cached_property
    def prior(self) -> Prior | None:
        """What policies may know of users before they play, shared by all; None if nothing."""
        if self.past is None:
            return None
        prior = self.past if isinstance(self.past, Prior) else self.past.prior
        if prior.arms != self.arms:
            raise LobInputError(f"the prior has the arms {prior.arms}, but the orders {self.arms}")
        return prior

    @cached_property
    def best(self) -> IntArray:
        """A best arm of each user: (n_users,)."""
        return read_only(self.means.argmax(axis=1))

    @cached_property
    def gaps(self) -> FloatArray:
        """Regret of playing each arm once, in its context: (n_users, n_arms)."""
        gaps = np.empty(self.means.shape)
        for arms in self.choice_sets:
            inside = self.means[:, arms]
            gaps[:, arms] = inside.max(axis=1, keepdims=True) - inside
        return read_only(gaps)

    @cached_property
    def choice_sets(self) -> BoolArray:
        """Which arms each context has, (n_contexts, n_arms); without contexts, all in one."""
        if self.arrivals is None:
            return read_only(np.ones((1, self.n_arms), np.bool_))
        return read_only(context_sets(self.arms))

    @cached_property
    def noise_location(self) -> FloatArray:
        """What rewards' noise is added to, or for Bernoulli rewards compared with."""
        return read_only(noise_location(self.rewards, self.means, self.location))

    def take(self, users: ArrayLike) -> "Problems":
        """Return the problems of some users, by number."""
        if self.changes is not None:
            raise LobInputError("users who change are simulated all together; sample them anew")
        index = np.asarray(users, dtype=np.int64)
        orders, believed = self.orders, self.state_means
        return replace(
            self,
            means=self.means[index],
            states=self.states[index],
            orders=orders.take(index) if isinstance(orders, UserOrders) else orders,
            state_means=believed if believed is None or believed.ndim == 2 else believed[index],
            location=None if self.location is None else self.location[index],
            features=None if self.features is None else self.features[index],
        )

    def __len__(self) -> int:
        return self.n_users

    def __repr__(self) -> str:
        return (
            f"Problems(n_users={self.n_users}, n_arms={self.n_arms}, n_states={self.n_states}, "
            f"sigma={self.sigma:g}, rewards={self.rewards!r})"
        )


@runtime_checkable
class Environment(Protocol):
    """Anything that draws problems, in parts if need be, on several machines."""

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Return users ``first`` to ``first + n - 1`` of the endless sequence that ``seed`` names.

        In :func:`lobandits.simulate` ``first`` is a multiple of 8.
        """
        ...
