"""LobBayes: information-directed sampling on everything that the logs know."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, fraction, whole
from lobandits.beliefs.cells import settled_cells
from lobandits.beliefs.from_orders import EXPERT
from lobandits.beliefs.points import Mixture, lifted, make_mixture, points_of_users
from lobandits.beliefs.posterior import Cells, condition, make_posterior, tastes_of_users
from lobandits.beliefs.prior import Prior
from lobandits.policies.explanation import Details
from lobandits.policies.prior_policy import PriorPolicy, by_features
from lobandits.rules.information_ratio import Moments, best_mixtures, exponents, moments_of
from lobandits.statistics import State

BLOCK = 2**21  # numbers of points that are worked on at a time
LIFTED = 3  # arms that a loading lifts, in words


@dataclass(frozen=True)
class LobBayes(PriorPolicy):
    r"""Play the two-arm mixture of the least (expected regret)^lambda / (expected information).

    Both are over points of the user's posterior under a prior learned from logs, in the rewards'
    own unit: see `rules.information_ratio` for the equation, `Prior` for the belief, and
    :doc:`lobbayes`.

    Parameters
    ----------
    prior
        A model from `learn`, a `Prior`, or `Prior.from_orders`.
    trust
        Prior chance that a state's order holds for its users: 0 for numbers only, near 1 where an
        expert vouches for the orders. By default 0, and 0.999 for `Prior.from_orders`.
    explore
        Share of choices that are uniform, for logs that must support off-policy estimates.
    n_points
        Points of the posterior.

    Examples
    --------
    >>> from lobandits.beliefs import Gaussian
    >>> means, shift = [[3.0, 1.0, 0.0], [0.0, 1.0, 3.0]], np.ones((3, 1))
    >>> args = means, shift, [0.1, 0.1, 0.1], [0.3, 0.3], Gaussian(1.0)
    >>> policy = LobBayes(Prior(["a", "b", "c"], [0.5, 0.5], *args))
    >>> state = policy.start()
    >>> policy.record(state, arms=[0, 2], rewards=[0.5, 2.5], users=[0, 0])
    >>> policy.choose(state, rng=0)
    array([2])
    """

    name = "lobbayes"
    style = ("#882255", "solid", "*")
    trust: float | None = None
    explore: float = 0.0
    n_points: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        usual = 0.0 if self._prior.known is None else EXPERT
        self._set(
            trust=usual if self.trust is None else fraction("trust", self.trust),
            explore=fraction("explore", self.explore),
            n_points=whole("n_points", self.n_points, least=2),
        )

    @cached_property
    def _mixture(self) -> Mixture:
        prior, trust = self._prior, self.trust or 0.0
        return make_mixture(prior.components, prior.orders if trust > 0 else None, trust)

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the chances of the arms in the best mixture of two."""
        doubt = min(1.0, 2.0 * (1.0 - (self.trust or 0.0)))
        odds, lifts = np.empty(state.counts.shape), self.lifts(state)
        size = max(1, BLOCK // (self.n_arms * self.n_points))
        for first in range(0, len(odds), size):
            some = slice(first, first + size)
            sets = allowed[some] if len(allowed) > 1 else allowed
            counts = state.counts[some].astype(np.float64)
            moments, _ = moments_of_users(
                counts, state.sums[some], sets, self._prior, self._mixture, self.n_points,
                None if lifts is None else lifts[some],
            )  # fmt: skip
            power = exponents(counts.sum(axis=1), doubt, self._prior.worth)
            odds[some] = best_mixtures(moments, sets, power)
        if self.explore > 0.0:
            floor = allowed / allowed.sum(axis=1, keepdims=True)
            odds = (1.0 - self.explore) * odds + self.explore * floor
        return odds

    def state_posterior(self, state: State) -> FloatArray:
        """Return the chance of each state."""
        moments = self._shares(state, self.all_arms)
        chances: FloatArray = moments[1].sum(axis=1)
        return chances

    def _shares(self, state: State, allowed: BoolArray) -> tuple[Moments, FloatArray]:
        """Return the moments, and the chances of free and strict states, (n, 2 b, m)."""
        counts = state.counts.astype(np.float64)
        moments, shares = moments_of_users(
            counts, state.sums, allowed, self._prior, self._mixture, self.n_points,
            self.lifts(state),
        )  # fmt: skip
        return moments, shares.reshape(len(shares), -1, self._prior.n_states)

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return what each arm would cost and tell, each state's chance, and words."""
        prior, (moments, shares) = self._prior, self._shares(state, allowed)
        chances, half = shares[0].sum(axis=0), shares.shape[1] // 2
        states = {
            "best": np.array(self.arms)[prior.means.argmax(axis=1)],
            "share": prior.shares,
            "chance": chances,
        }
        if self.trust:
            strict = shares[0, half:].sum(axis=0)
            states["order holds"] = strict / np.maximum(chances, np.finfo(float).tiny)
        more, words = by_features(prior, state)
        return Details(
            arms={
                "posterior mean": moments.mean[0],
                **more,
                "on top": moments.on_top[0],
                "regret": moments.regret[0],
                "information": moments.information[0],
            },
            states=states,
            notes=[*words, *self._notes(state, chances)],
        )

    def _notes(self, state: State, chances: FloatArray) -> list[str]:
        """Say in words which state it is, how sure, and which loadings move the user."""
        prior, s = self._prior, int(chances.argmax())
        notes = []
        if prior.n_states > 1:
            notes.append(f"Most likely state {s}, with a chance of {100 * chances[s]:.3g} %.")
        centre, spread = user_loadings(prior, state, s)
        for j in range(prior.loadings.shape[1]):
            column = np.sign(centre[j]) * prior.loadings[:, j]
            size, sure = abs(centre[j]), f"{centre[j]:+.2g} give or take {spread[j]:.2g}"
            if j == 0:
                rise = float((centre[0] * prior.loadings[:, 0]).mean())
                notes.append(f"The user's own level is {rise:+.3g} on all arms ({sure}).")
            elif size > spread[j]:
                best = ", ".join(self.arms[a] for a in np.argsort(-column)[:LIFTED])
                notes.append(f"Loading {j} moves this user by {sure}: it lifts {best}.")
        plays = float(state.counts.sum())
        notes.append(
            f"{plays:.3g} plays so far; a user's own rewards of an arm outweigh what past users "
            f"tell after some {prior.worth:.2g} of it."
        )
        return notes


def moments_of_users(
    counts: FloatArray,
    sums: FloatArray,
    allowed: BoolArray,
    prior: Prior,
    mixture: Mixture,
    n_points: int,
    lifts: FloatArray | None = None,
) -> tuple[Moments, FloatArray]:
    """Return what points of users' posteriors tell of their arms, and the versions' shares."""
    likelihood, mixture = prior.likelihood, lifted(mixture, lifts)
    cells = settled_cells(counts, sums, likelihood, mixture.components, lifts)
    points, top, shares = points_of_users(counts, cells, allowed, mixture, n_points)
    if not likelihood.exact:
        points = likelihood.mean(points)
        points += (_means(cells, shares, prior, mixture) - points.mean(axis=2))[:, :, None]
        top = np.where(allowed[:, :, None], points, -np.inf).argmax(axis=1)
    noise = likelihood.noise(points.mean(axis=2))
    return moments_of(points, top, noise), shares


def _means(cells: Cells, shares: FloatArray, prior: Prior, mixture: Mixture) -> FloatArray:
    """Return the posterior means of users' mean rewards, (n, k): a few points of rare clicks err.

    Arms of nearly the same mean would then be played in turn.
    """
    c, likelihood = mixture.components, prior.likelihood
    by_component = shares[:, : shares.shape[1] // 2] + shares[:, shares.shape[1] // 2 :]
    eta, variance = np.empty((2, *by_component.shape, prior.n_arms))
    tastes_of_users(cells, c, by_component, eta, variance)
    eta += cells.lift[:, None]
    means: FloatArray = np.einsum(
        "nj,nja->na", by_component, likelihood.expected(likelihood.mean, eta, variance)
    )
    return means


def user_loadings(prior: Prior, state: State, which: int) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of one user's z in a state, (r,) each, by rewards alone.

    What features say of it comes on top.
    """
    one = prior.components
    counts, lifts = state.counts[:1].astype(np.float64), prior.lifts(state.features)
    cells = settled_cells(counts, state.sums[:1], prior.likelihood, one, lifts)
    memory = make_posterior(one)
    condition(0, cells, one, memory)
    j = which + prior.n_states * int(memory.log.reshape(-1, prior.n_states)[:, which].argmax())
    lower = np.tril(memory.lower[j])
    covariance = np.linalg.inv(lower @ lower.T)
    r = prior.loadings.shape[1]
    return memory.centre[j, :r], np.sqrt(np.diag(covariance)[:r])
