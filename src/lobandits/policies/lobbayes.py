"""LobBayes: information-directed sampling on everything that the logs know."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lobandits._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    fraction,
    whole,
)
from lobandits._jit import kernel, lean
from lobandits.errors import LobInputError
from lobandits.policies.explanation import Details
from lobandits.policies.information_ratio import mix_two_arms
from lobandits.policies.mixture_points import (
    Mixture,
    PointMemory,
    draw_points,
    make_memory,
    make_mixture,
    point_tables,
)
from lobandits.policies.policy import Policy
from lobandits.policies.state import State
from lobandits.priors.posterior import settle
from lobandits.priors.prior import Prior, checked_prior, checked_sigma, sound_sigma

FREEDOM = 2.0  # of Student's t by which states are judged
STRANGERS = 0.2  # of what is not trusted
SURE, UNSURE = 1.4, 0.6  # the exponent of regret where orders are certain, and what doubt adds
EXTRA = 4.0  # what doubt adds beyond before the first play
LASTS = 4.0  # it is halved after so many times the plays that the prior is worth


class Moments(NamedTuple):
    """What the points tell of the arms."""

    on_top: FloatArray  # (k,): the share of points with the arm on top
    mean: FloatArray  # (k,)
    by_top: FloatArray  # (k, k): [arm, top], the arm's sum over points with that top
    regret: FloatArray  # (k,): Delta
    information: FloatArray  # (k,): I


@dataclass(frozen=True)
class LobBayes(Policy[State]):
    r"""Play the two-arm mixture of the least (expected regret)^lambda / (expected information).

    .. math:: \Delta_a = E[\max_b \mu_b] - E[\mu_a], \qquad
        I_a = \sum_b P(\mathrm{top} = b) (E[\mu_a \mid \mathrm{top} = b] - E[\mu_a])^2, \qquad
        \lambda = 1.4 + \delta \Big(0.6 + \frac{4}{1 + t / (4 n_0)}\Big),

    over points of the user's posterior under a prior learned from logs, after t plays; the prior is
    worth :math:`n_0 = \sigma^2 / v` plays of an arm, whose mean has the variance v among users, and
    the doubt :math:`\delta` is 1 up to a trust of a half, and falls to 0 where orders are certain.
    Every state of the prior has two versions, free and strict: in the strict one its order holds. A
    stranger, whose arms are exchangeable, stands for users like none in the logs. See
    :doc:`lobbayes`.

    Parameters
    ----------
    prior
        From `learn_prior`, or `Prior.from_orders`.
    sigma
        Standard deviation of rewards; by default the prior's.
    trust
        Prior chance that a state's order holds for its users: 0 for numbers only, near 1 where an
        expert vouches for the orders.
    stranger
        Prior chance of a user like none in the logs; by default ``0.2 * (1 - trust)``.
    explore
        Share of choices that are uniform, for logs that must support off-policy estimates.
    n_points
        Points of the posterior.

    Examples
    --------
    >>> means, spread = [[3.0, 1.0, 0.0], [0.0, 1.0, 3.0]], 0.1 * np.eye(3)
    >>> prior = Prior(["a", "b", "c"], [0.5, 0.5], means, spread, 1.0, [0.3, 0.3], 1.0)
    >>> policy = LobBayes(prior)
    >>> state = policy.start()
    >>> policy.record(state, arms=[0, 2], rewards=[0.5, 2.5], users=[0, 0])
    >>> policy.choose(state, rng=0)
    array([2])
    """

    name = "lobbayes"
    style = ("#882255", "solid", "*")
    prior: Prior = field(repr=False, metadata={"decode": Prior.from_dict})
    sigma: float | None = None
    trust: float = 0.5
    stranger: float | None = None
    explore: float = 0.0
    n_points: int = 32
    n_arms: int = field(init=False)
    arms: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        prior = checked_prior(self.prior)
        stranger = STRANGERS * (1 - fraction("trust", self.trust))
        given = stranger if self.stranger is None else fraction("stranger", self.stranger)
        if given == 1:
            raise LobInputError("stranger is 1, which leaves nothing to the prior; lower it")
        self._set(
            trust=fraction("trust", self.trust),
            sigma=checked_sigma(prior, self.sigma),
            stranger=given,
            explore=fraction("explore", self.explore),
            n_points=whole("n_points", self.n_points, least=2),
            n_arms=prior.n_arms,
            arms=prior.arms,
        )
        super().__post_init__()

    @cached_property
    def _mixture(self) -> Mixture:
        assert self.stranger is not None
        freedom = FREEDOM if len(self.prior.factors) == 1 else 0.0  # factors are tails enough
        return make_mixture(self.prior, self.trust, self.stranger, freedom)

    @cached_property
    def _worth(self) -> float:
        """Plays of an arm that tell as much of it as the prior does: sigma^2 / v."""
        assert self.sigma is not None
        total = self.prior.population_covariance
        own = float(np.trace(total) - total.sum() / self.n_arms) / self.n_arms
        return self.sigma**2 / max(own, np.finfo(float).tiny)

    @property
    def _rule(self) -> tuple[float, float, float]:
        """Return what weighs regret against information: doubt, the prior's worth, ``explore``."""
        return min(1.0, 2.0 * (1.0 - self.trust)), self._worth, self.explore

    def _args(self) -> tuple[float, Mixture, FloatArray, PointMemory]:
        assert self.sigma is not None
        tables = point_tables(self.n_points, self.n_arms + 1)
        sigma = sound_sigma(self.prior, self.sigma)
        return sigma, self._mixture, tables, make_memory(self.prior, self.n_points)

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the chances of the arms in the best mixture of two."""
        sigma, mixture, tables, memory = self._args()
        args = state.counts, state.sums, allowed, sigma, mixture, tables, memory
        return best_mixtures(*args, make_moments(self.n_arms), *self._rule)

    def state_posterior(self, state: State) -> FloatArray:
        """Return the chance of each state, for a user who is no stranger."""
        shares = self._shares(state)
        states: FloatArray = shares[:, :-1].reshape(len(shares), -1, self.prior.n_states).sum(1)
        total = states.sum(axis=1, keepdims=True)
        uniform = np.full_like(states, 1.0 / self.prior.n_states)
        np.divide(states, total, out=uniform, where=total > 0)
        return uniform

    def stranger_chances(self, state: State) -> FloatArray:
        """Return the chance that each user is like none in the logs, (n_users,)."""
        return self._shares(state)[:, -1]

    def _shares(self, state: State) -> FloatArray:
        """Return the chances of all versions of the components, and of the stranger."""
        sigma, mixture, tables, memory = self._args()
        out = np.empty((state.n_users, len(memory.share)))
        versions(state.counts, state.sums, self.all_arms, sigma, mixture, tables, memory, out)
        return out

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return what each arm would cost and tell, and each state's chance."""
        sigma, mixture, tables, memory = self._args()
        moments = make_moments(self.n_arms)
        args = state.counts, state.sums, allowed, sigma, mixture, tables, memory, moments
        best_mixtures(*args, *self._rule)
        chances = self.state_posterior(state)[0]
        shares, states = self._shares(state)[0], self.prior.n_states
        half = (len(shares) - 1) // 2
        strict = shares[half : 2 * half].reshape(-1, states).sum(axis=0)
        free = shares[:half].reshape(-1, states).sum(axis=0)
        best = np.array(self.arms)[self.prior.means.argmax(axis=1)]
        return Details(
            arms={
                "posterior mean": moments.mean,
                "on top": moments.on_top,
                "regret": moments.regret,
                "information": moments.information,
            },
            states={
                "best": best,
                "share": self.prior.shares,
                "chance": chances,
                "order holds": strict / np.maximum(strict + free, np.finfo(float).tiny),
            },
            notes=self._notes(moments, chances, memory, float(shares[-1])),
        )

    def _notes(
        self, moments: Moments, chances: FloatArray, memory: PointMemory, stranger: float
    ) -> list[str]:
        """Say in words which state it is, how sure, and what is the user's own."""
        s = int(chances.argmax())
        p, m = memory.posterior, self.prior.n_states
        log = p.log[:-1].reshape(-1, m)[:, s]
        j = int(log.argmax()) * m + s
        settle(j, self._mixture.components, p)
        shift = float((p.mean[j] - (1 + p.scale[j]) * self._mixture.components.mean[j]).mean())
        shift += float(p.scale[j] * self._mixture.components.mean[j].mean())
        return [
            f"Most likely state {s}, with a chance of {100 * chances[s]:.3g} %; "
            f"a user like none in the logs: {100 * stranger:.3g} %.",
            f"In that state the user's own scale is {1 + p.scale[j]:.3g} times the state's, "
            f"and the shift {shift:+.3g}.",
        ]


def make_moments(k: int) -> Moments:
    """Allocate the memory for ``k`` arms."""
    rows = [np.empty(k) for _ in range(4)]
    return Moments(rows[0], rows[1], np.empty((k, k)), rows[2], rows[3])


@kernel
def best_mixtures(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    sigma: float,
    mixture: Mixture,
    tables: FloatArray,
    memory: PointMemory,
    moments: Moments,
    doubt: float,
    worth: float,
    explore: float,
) -> FloatArray:
    """Return every user's chances, (n, k); memory and moments are then those of the last."""
    odds = np.empty(counts.shape)
    for u in range(len(counts)):
        some = allowed[u if len(allowed) > 1 else 0]
        draw_points(counts[u], sums[u], some, sigma, mixture, tables, memory)
        split_by_top(memory.points, memory.top, moments)
        power = caution(counts[u], doubt, worth)
        mix_two_arms(moments.regret, moments.information, some, power, odds[u])
        if explore > 0.0:
            mix_uniform(some, explore, odds[u])
    return odds


@lean
def caution(counts: IntArray, doubt: float, worth: float) -> float:
    """Return the exponent of regret: it falls as plays outnumber what the prior is worth."""
    plays = 0
    for a in range(counts.shape[0]):
        plays += counts[a]
    return SURE + doubt * (UNSURE + EXTRA / (1.0 + plays / (LASTS * worth)))


@kernel
def versions(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    sigma: float,
    mixture: Mixture,
    tables: FloatArray,
    memory: PointMemory,
    out: FloatArray,
) -> None:
    """Write the chances of all versions of the components, and of the stranger."""
    for u in range(len(counts)):
        draw_points(counts[u], sums[u], allowed[0], sigma, mixture, tables, memory)
        out[u] = memory.share


@lean
def split_by_top(points: FloatArray, top: IntArray, m: Moments) -> None:
    """Write the moments; O(n k + k^2). An arm on top of every point has a regret of exactly 0."""
    k, n = points.shape
    for b in range(k):
        m.on_top[b] = 0.0
    for i in range(n):
        m.on_top[top[i]] += 1.0
    for a in range(k):
        total = regret = information = 0.0
        by_top = m.by_top[a]
        for b in range(k):
            by_top[b] = 0.0
        for i in range(n):
            by_top[top[i]] += points[a, i]
            total += points[a, i]
            regret += points[top[i], i] - points[a, i]
        mean = total / n
        for b in range(k):
            if m.on_top[b] > 0.0:
                gap = by_top[b] / m.on_top[b] - mean
                information += m.on_top[b] / n * gap * gap
        m.mean[a], m.regret[a], m.information[a] = mean, regret / n, information
    for b in range(k):
        m.on_top[b] /= n


@lean
def mix_uniform(allowed: BoolArray, explore: float, out: FloatArray) -> None:
    """Mix the uniform distribution over allowed arms into chances."""
    n = 0
    for a in range(out.shape[0]):
        n += allowed[a]
    for a in range(out.shape[0]):
        if allowed[a]:
            out[a] = (1.0 - explore) * out[a] + explore / n
