"""Prior: what past users tell of a new one, before the first reward."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import (
    FloatArray,
    IntArray,
    finite_array,
    fraction,
    generator,
    read_only,
    whole,
)
from lobandits.basics.files import check_versioned, read_json, write_versioned
from lobandits.basics.frozen import Frozen
from lobandits.basics.kernel import writable
from lobandits.basics.tables import Tabular
from lobandits.basics.words import counted
from lobandits.beliefs.arm_effects import ArmEffects
from lobandits.beliefs.cells import settled_cells
from lobandits.beliefs.feature_effects import FeatureEffects
from lobandits.beliefs.features import Table
from lobandits.beliefs.gaussian import Gaussian
from lobandits.beliefs.likelihood import FAR, Likelihood, likelihood_from_dict
from lobandits.beliefs.posterior import Components, shares_of_users, tastes_of_users
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.orders.arms import Arm, arm_index, arm_names
from lobandits.orders.contexts import arms_by_context
from lobandits.orders.storage import MODEL_FORMAT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMAT, VERSION = "lobandits.prior", 2
FIELDS = (
    "arms", "shares", "means", "loadings", "own", "scales", "likelihood", "factors", "directions",
    "known",
)  # fmt: skip
NOUN = "a saved prior"
SHOWN = 5  # arms of a state in words
EPSILON = 0.05  # chance of a new arm to beat the best
DRAWN = 8  # states in a picture, the most common first
NEARLY = 1e-6  # shares that sum to one but for rounding in a file
ROUNDING = 1e-12  # but for that of a sum
BLOCK = 2**21  # tastes of users that are worked on at a time


class HasPrior(Protocol):
    """What policies on a prior take: a `Prior`, or a model that has one."""

    @property
    def prior(self) -> "Prior":
        """The prior."""


def _known(data: Any) -> LatentOrders | None:
    return None if data is None else LatentOrders.from_dict(data, "known")


def _effects(data: Any) -> FeatureEffects:
    return FeatureEffects(**FeatureEffects._decoded(data, "features"))


def _arm_effects(data: Any) -> ArmEffects:
    return ArmEffects(**ArmEffects._decoded(data, "arm_features"))


@dataclass(frozen=True)
class Prior(Frozen, Tabular):
    r"""A user's tastes before the first reward: a state, a few loadings, and each arm's own.

    .. math:: \eta_a = m_{sa} + (L z)_a + t \rho_s (m_{sa} - \bar m_s) + \varepsilon_a, \qquad
        z, t \sim N(0, I), \; \varepsilon_a \sim N(0, d_a), \; P(s) = w_s,

    on the scale of the likelihood's link: rewards have the mean :math:`g(\eta_a)`. `learn` learns
    one from logs, and `from_orders` makes one of orders alone.

    Parameters
    ----------
    arms : names of the k arms
    shares : (m,)
        w, how common the states are.
    means : (m, k)
        The states' means; their ranks are the orders.
    loadings : (k, r)
        L: what users differ by together. The first column is the personal shift.
    own : (k,), or (m, k)
        d: the variance of what users differ by in one arm alone; one for each state, where states
        know more of other arms.
    scales : (m,)
        rho: users of a state have 1 + rho_s times its differences between arms, give or take.
    likelihood
        How rewards come from tastes.
    factors : (b,), optional
        Overall factors, all as likely, on means, ``directions`` and deviations, but not on the
        loadings; one, of 1, unless the scale of the rewards is unknown.
    directions : (m, k, e), optional
        Further columns of a state's own, as orders of several chains have them.
    known : LatentOrders, optional
        The states' orders, where these are known; else `orders` are those of the means.
    features : FeatureEffects, optional
        What is known of users before their first reward, and what it says of their tastes.
    arm_features : ArmEffects, optional
        What arms' features say of them, for new ones.

    Examples
    --------
    >>> from lobandits.beliefs import Gaussian
    >>> shift, own = [[0.5], [0.5]], [0.1, 0.1]
    >>> prior = Prior(["x", "y"], [0.75, 0.25], [[3, 1], [1, 4]], shift, own, [0.2, 0.3],
    ...               Gaussian(1.0))
    >>> print(prior)
    2 states of 2 arms, gaussian rewards of sigma 1, 1 loading
    state 0: 75 % of users, scale 0.2: x 3 > y 1
    state 1: 25 % of users, scale 0.3: y 4 > x 1
    """

    arms: tuple[str, ...]
    shares: FloatArray
    means: FloatArray
    loadings: FloatArray
    own: FloatArray
    scales: FloatArray
    likelihood: Likelihood = field(metadata={"decode": likelihood_from_dict})
    factors: FloatArray = field(default_factory=lambda: np.ones(1), repr=False)
    directions: FloatArray | None = field(default=None, repr=False)
    known: LatentOrders | None = field(default=None, repr=False, metadata={"decode": _known})
    features: FeatureEffects | None = field(
        default=None, repr=False, metadata={"rare": True, "decode": _effects}
    )
    arm_features: ArmEffects | None = field(
        default=None, repr=False, metadata={"rare": True, "decode": _arm_effects}
    )

    def __post_init__(self) -> None:
        means = finite_array("means", self.means, ndim=2)
        m, k = means.shape
        arms = arm_names(k, self.arms)
        factors = finite_array("factors", self.factors, ndim=1)
        if not len(factors) or (factors <= 0).any():
            raise LobInputError(f"factors must be positive numbers, got {self.factors!r}")
        if self.known is not None:
            _check_known(self.known, means, arms)
        if not isinstance(self.likelihood, Likelihood):
            raise LobInputError(
                "likelihood must be Gaussian(sigma), Bernoulli(), Poisson() or one of your own, "
                f"got {self.likelihood!r}"
            )
        loadings = _loadings(self.loadings, k)
        if self.features is not None:
            self.features.checked(loadings.shape[1], k)
        if self.arm_features is not None:
            self.arm_features.checked(m, loadings.shape[1])
        sigma: Any = getattr(self.likelihood, "sigma", 1.0)
        if np.ndim(sigma) and len(sigma) != k:
            raise LobInputError(f"the likelihood has {len(sigma)} sigmas, but there are {k} arms")
        self._set(
            arms=arms,
            means=means,
            shares=_shares(self.shares, m),
            loadings=loadings,
            own=_own(self.own, m, k),
            scales=_not_negative("scales", self.scales, m, "state"),
            factors=factors,
            directions=_directions(self.directions, m, k),
        )

    @classmethod
    def from_orders(cls, orders: LatentOrders, sigma: float = 1.0) -> "Prior":
        """Return a scale-free prior for orders without logs; see `beliefs.from_orders`."""
        from lobandits.beliefs.from_orders import prior_of_orders

        return prior_of_orders(orders, sigma)

    @property
    def prior(self) -> "Prior":
        """The prior itself: policies take anything that has one."""
        return self

    @property
    def n_states(self) -> int:
        """Number of states, m."""
        return len(self.means)

    @property
    def n_arms(self) -> int:
        """Number of arms, k."""
        return len(self.arms)

    @cached_property
    def orders(self) -> LatentOrders:
        """The states' orders, within contexts: those that are known, or those of the means."""
        return _without_warnings(self.means, self.arms) if self.known is None else self.known

    @cached_property
    def components(self) -> Components:
        """The prior as kernels read it."""
        log_share = np.log(self.shares) - np.log(len(self.factors))
        return Components(
            log_share=log_share[None],
            mean=writable(self.means)[None],
            direction=writable(self.state_directions)[None],
            loading=writable(self.loadings),
            own=np.maximum(self.state_own, np.finfo(float).tiny)[None],
            factor=writable(self.factors),
        )

    @property
    def state_own(self) -> FloatArray:
        """The own variances of each state, (m, k)."""
        own: FloatArray = np.broadcast_to(self.own, self.means.shape)
        return own

    @cached_property
    def state_directions(self) -> FloatArray:
        """E, (m, k, e): the personal scale, where a state has one, and further directions."""
        away = self.means - self.means.mean(axis=1, keepdims=True)
        scale = (self.scales[:, None] * away)[:, :, None]
        parts = [] if self.directions is None else [self.directions]
        if (self.scales > 0).any() or not parts:
            parts.insert(0, scale)
        return read_only(np.concatenate(parts, axis=2))

    # What it says of users ----------------------------------------------------------------------

    @cached_property
    def variances(self) -> FloatArray:
        """The variance of each taste among a state's users, (m, k), on the link's scale."""
        square = float(np.mean(self.factors**2))
        shared = (self.loadings**2).sum(axis=1) + square * self.own
        return read_only(shared + square * (self.state_directions**2).sum(axis=2))

    @cached_property
    def state_means(self) -> FloatArray:
        """The mean reward of each state's users, (m, k), in the rewards' own unit."""
        centre = float(self.factors.mean()) * self.means
        return read_only(self.likelihood.expected(self.likelihood.mean, centre, self.variances))

    @cached_property
    def population_mean(self) -> FloatArray:
        """The mean reward of all users, (k,), in the rewards' own unit."""
        return read_only(self.shares @ self.state_means)

    @property
    def sigma(self) -> float:
        """The standard deviation of a reward, over all arms, at what users earn on average."""
        return float(np.sqrt(self.likelihood.noise(self.population_mean).mean()))

    @cached_property
    def differences(self) -> float:
        """The variance that users differ by in an arm, but for what moves all arms alike."""
        k, square = self.n_arms, float(np.mean(self.factors**2))
        spread = [self.loadings, *np.sqrt(square * self.shares)[:, None, None]
                  * self.state_directions]  # fmt: skip
        own = sum(float(part.var(axis=0).sum()) for part in spread)
        types = self.means - self.shares @ self.means
        types = types - types.mean(axis=1, keepdims=True)
        between = float(self.shares @ (types**2).mean(axis=1))
        return own + square * (float(self.own.mean()) * (1.0 - 1.0 / k) + between)

    @cached_property
    def worth(self) -> float:
        """n0: so many plays of an arm tell as much of it as the prior does."""
        at = self.likelihood.link(self.population_mean)
        one = self.likelihood.noise(self.population_mean) / self.likelihood.slope(at) ** 2
        return float(one.mean()) / max(self.differences, np.finfo(float).tiny)

    def sure_orders(self, level: float = 0.95) -> LatentOrders:
        """Return only the relations that hold for at least this share of a state's users.

        Arm a is above b where Phi((m_a - m_b) / sd of the gap) >= ``level``; this is transitive.
        """
        if not 0.5 <= fraction("level", level) < 1:
            raise LobInputError(f"level must be at least 0.5 and below 1, got {level!r}")
        gap = self.means[:, :, None] - self.means[:, None, :]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sure = LatentOrders((self._above() >= level) & (gap > 0), self.arms)
        return sure.within_contexts()

    def kept_order(self) -> FloatArray:
        """Return the share of an order's pairs that users of its state rank alike, (m,)."""
        pairs = self.orders.precedes
        with np.errstate(invalid="ignore"):
            kept: FloatArray = (self._above() * pairs).sum(axis=(1, 2)) / pairs.sum(axis=(1, 2))
        return kept

    def _above(self) -> FloatArray:
        """Return the chance that a user of a state likes a more than b, (m, k, k)."""
        from scipy.special import ndtr

        columns = [np.broadcast_to(self.loadings, (self.n_states, *self.loadings.shape))]
        both = np.concatenate([*columns, self.state_directions], axis=2)
        gram = both @ both.transpose(0, 2, 1)
        square = np.diagonal(gram, axis1=1, axis2=2) + self.own
        variance = square[:, :, None] + square[:, None, :] - 2 * gram
        gap = self.means[:, :, None] - self.means[:, None, :]
        chances: FloatArray = ndtr(gap / np.sqrt(np.maximum(variance, np.finfo(float).tiny)))
        return chances

    def lifts(self, features: Table | None, n: int | None = None) -> FloatArray | None:
        """Return what features add to users' tastes, (n, k); None where they say nothing.

        ``features`` are a table of them, a row for each user, or x as `Features.encode` makes it.
        """
        if features is None or self.features is None:
            return None
        x = self.features.encode(features, n)
        if not self.features.tell:
            return None
        lifts: FloatArray = x @ self._by_column.T
        return lifts

    @cached_property
    def _by_column(self) -> FloatArray:
        assert self.features is not None
        return read_only(self.features.by_column(self.loadings))

    def explained(self) -> dict[str, float]:
        """Return by feature its share of what users' tastes vary by, on the link's scale."""
        if self.features is None:
            return {}
        features, by = self.features.features, self._by_column
        parts = {
            one.name: float(np.einsum("ai,ij,aj->", by[:, at], one.covariance, by[:, at]))
            for one, at in zip(features.all, features.places.values(), strict=True)
        }
        left = float((self.shares @ self.variances).sum())
        between = float((self.shares @ (self.means - self.shares @ self.means) ** 2).sum())
        total = sum(parts.values()) + left + between
        return {name: part / total for name, part in parts.items()}

    def draw(
        self, n: int, rng: np.random.Generator | int, features: Table | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Draw users as the prior sees them: their states (n,) and their mean rewards (n, k)."""
        random, n = generator(rng), whole("n", n)
        states = random.choice(self.n_states, size=n, p=self.shares)
        factors = random.choice(self.factors, size=(n, 1))
        together = random.standard_normal((n, self.loadings.shape[1])) @ self.loadings.T
        columns = random.standard_normal((n, 1, self.state_directions.shape[2]))
        own = np.sqrt(self.state_own[states]) * random.standard_normal((n, self.n_arms))
        personal = (columns * self.state_directions[states]).sum(axis=2)
        eta = together + factors * (self.means[states] + personal + own)
        lifts = self.lifts(features, n)
        eta = eta if lifts is None else eta + lifts
        return states, self.likelihood.mean(np.clip(eta, *self._bounds))

    @property
    def _bounds(self) -> tuple[float, float]:
        """Tastes beyond which rewards tell nothing; none where the link is the identity."""
        return (-np.inf, np.inf) if self.likelihood.exact else (-FAR, FAR)

    # What it says of users with rewards ---------------------------------------------------------

    def posterior(
        self, counts: ArrayLike, sums: ArrayLike, features: Table | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the chances of the states, the mean rewards and the log evidence of users.

        Parameters
        ----------
        counts, sums : (n, k)
            The number and the sum of each user's rewards from each arm; where old rewards weigh
            less, weights.
        features
            What is known of the users, as for `lifts`.

        Returns
        -------
        chances : (n, m)
        means : (n, k)
            Posterior means of the users' mean rewards.
        log_evidence : (n,)
            Log density of the rewards; of Gaussian ones, of the averages of the arms tried.
        """
        number, total = self._checked(counts, sums)
        lifts = self.lifts(features, len(number))
        shape = len(number), self.n_states
        chances, means = np.empty(shape), np.empty(number.shape)
        log = np.empty(len(number))
        size = max(1, BLOCK // (self.n_arms * self.n_states * len(self.factors)))
        for first in range(0, len(number), size):
            some = slice(first, first + size)
            moved = None if lifts is None else lifts[some]
            share, log[some], eta, variance = self._tastes(number[some], total[some], moved)
            by_state = share.reshape(len(share), len(self.factors), -1).sum(axis=1)
            chances[some] = by_state
            by_component = self.likelihood.expected(self.likelihood.mean, eta, variance)
            means[some] = np.einsum("nj,nja->na", share, by_component)
        return chances, means, log

    def log_evidence(
        self, counts: FloatArray, sums: FloatArray, lifts: FloatArray | None = None
    ) -> FloatArray:
        """Return the log evidence of users' rewards, (n,), unchecked."""
        return self.shares_of(counts, sums, lifts)[1]

    def shares_of(
        self, counts: FloatArray, sums: FloatArray, lifts: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return users' shares of all components, (n, b m), and log evidence (n,), unchecked."""
        cells = settled_cells(counts, sums, self.likelihood, self.components, lifts)
        share = np.empty((len(counts), len(self.factors) * self.n_states))
        log = np.empty(len(counts))
        shares_of_users(cells, self.components, share, log)
        return share, log

    def draw_posterior(
        self,
        counts: ArrayLike,
        sums: ArrayLike,
        rng: np.random.Generator | int,
        features: Table | None = None,
    ) -> FloatArray:
        """Draw each user's mean rewards, (n, k), given rewards: the state, z, and each arm's own.

        Parameters
        ----------
        counts, sums, features
            As for `posterior`.
        rng
            A generator, or a seed.
        """
        from lobandits.beliefs.points import draw_tastes

        number, total = self._checked(counts, sums)
        eta = draw_tastes(self, number, total, generator(rng), self.lifts(features, len(number)))
        return self.likelihood.mean(np.clip(eta, *self._bounds))

    def _tastes(
        self, counts: FloatArray, sums: FloatArray, lifts: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return shares of components, log evidence, and tastes' means and variances (n, j, k)."""
        cells = settled_cells(counts, sums, self.likelihood, self.components, lifts)
        n, j = len(counts), len(self.factors) * self.n_states
        share, log = np.empty((n, j)), np.empty(n)
        shares_of_users(cells, self.components, share, log)
        mean, variance = np.empty((n, j, self.n_arms)), np.empty((n, j, self.n_arms))
        tastes_of_users(cells, self.components, share, mean, variance)
        mean = mean if lifts is None else mean + lifts[:, None]
        return share, log, mean, variance

    def _checked(self, counts: ArrayLike, sums: ArrayLike) -> tuple[FloatArray, FloatArray]:
        number = finite_array("counts", counts, ndim=2)
        total = finite_array("sums", sums, ndim=2)
        for name, array in (("counts", number), ("sums", total)):
            if array.shape != (len(number), self.n_arms):
                raise LobInputError(
                    f"{name} must have the shape ({len(number)}, {self.n_arms}), got {array.shape}"
                )
        if (number < 0).any():
            raise LobInputError("counts must not be negative")
        return number, total

    # Other priors -------------------------------------------------------------------------------

    def with_likelihood(self, likelihood: Likelihood) -> "Prior":
        """Return the same prior for other rewards, such as noisier ones."""
        return self._with(likelihood=likelihood)

    def with_arm(
        self,
        name: str,
        like: Arm | None = None,
        features: Mapping[str, Any] | None = None,
        epsilon: float = EPSILON,
    ) -> "Prior":
        r"""Return the prior with one more arm, the last, of which no log knows.

        Like an arm a, a user's taste of the new arm is that of a and a deviation of its own,

        .. math:: \eta_{new} = m_{sa} + (L z)_a + \varepsilon, \qquad \varepsilon \sim N(0, 2 d_a).

        With features, where the prior knows what those of arms say (`ArmEffects`), it is what they
        say, give or take what arms differ by beyond them. In a prior of contexts its name is such
        features. Without any, it is as wide as arms differ,

        .. math:: \varepsilon \sim N(0, v), \qquad
                  v = \overline{d} + \sum_s w_s \mathrm{Var}_a(m_{sa})
                      + \sum_j \mathrm{Var}_a(L_{aj}),

        and stands where its chance to beat the best arm of the average user is ``epsilon``, in each
        state; where only orders are known, in the middle.

        >>> from lobandits.beliefs import Gaussian
        >>> prior = Prior(["x", "y"], [1.0], [[3, 1]], [[0.5], [0.5]], [1, 1], [0.2], Gaussian(1))
        >>> print(prior.with_arm("z", like="x"))
        1 state of 3 arms, gaussian rewards of sigma 1, 1 loading
        state 0: 100 % of users, scale 0.2: x 3 > z 3 > y 1
        >>> prior.with_arm("z").means.round(2)
        array([[3.  , 1.  , 0.67]])
        >>> prior.with_arm("z", epsilon=0.5).means
        array([[3., 1., 3.]])
        """
        at = None if like is None else arm_index(self.arms, like)
        known = None if self.known is None else self.known.with_arm(name, like)
        mean, row, own = self._new_arm(name, at, features, epsilon)
        directions = self.directions
        if directions is not None:
            new = np.zeros_like(directions[:, :1]) if at is None else directions[:, [at]]
            directions = np.concatenate([directions, new], axis=1)
        return self._with(
            arms=(*self.arms, name),
            means=np.column_stack([self.means, mean]),
            loadings=np.vstack([self.loadings, row]),
            own=np.concatenate([self.own, own[..., None]], axis=-1),
            likelihood=self.likelihood.with_arm(at),
            directions=directions,
            known=known,
            features=None if self.features is None else self.features.with_arm(at),
        )

    def _new_arm(
        self, name: str, at: int | None, given: Mapping[str, Any] | None, epsilon: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return means, loadings and own variances of a new arm; see `with_arm`."""
        if at is not None:
            if given is not None:
                raise LobInputError(
                    f"the new arm {name!r} is like {self.arms[at]!r} and has features; give one of "
                    "both"
                )
            return self.means[:, at], self.loadings[at], 2.0 * self.own[..., at]
        effects = self.arm_features
        if given is not None and effects is None:
            raise LobInputError(
                f"the new arm {name!r} has features, but the model knows none of arms; learn with "
                "arm_features, or say which arm it is like"
            )
        if effects is not None:
            features = {**(effects.by_name(name) or {}), **(given or {})}
            if features:
                m = self.n_states
                expected, left = effects.of(features), effects.left
                own = self.own.mean(axis=-1) + self.shares @ left[:m] + left[m:].sum()
                return expected[:m], expected[m:], np.asarray(own)
        row = self.loadings.mean(axis=0)
        wide = self.shares @ self.means.var(axis=1) + self.loadings.var(axis=0).sum()
        own = np.asarray(self.own.mean(axis=-1) + wide)
        if self.known is not None:
            return self.means.mean(axis=1), row, own
        chance = fraction("epsilon", epsilon)
        if not 0.0 < chance < 1.0:
            raise LobInputError(f"epsilon must lie between 0 and 1, got {epsilon!r}")
        below = NormalDist().inv_cdf(chance) * np.sqrt(own)
        return self.means.max(axis=1) + below, row, own

    # Files, tables, words -----------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as plain data, for JSON."""
        return {"format": FORMAT, "version": VERSION, **self._plain()}

    @classmethod
    def from_dict(cls, data: Any, source: str = "prior") -> "Prior":
        """Return the prior that `to_dict` described; errors open with ``source``."""
        checked = check_versioned(data, source, FORMAT, VERSION, FIELDS, NOUN)
        content = {name: checked[name] for name in checked if name not in ("format", "version")}
        try:
            return cls(**cls._decoded(content, "the prior"))
        except LobInputError as error:
            raise LobInputError(f"{source}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file that `load` reads; nothing in it tells of single users."""
        write_versioned(path, FORMAT, VERSION, self._plain(), rows=("means", "loadings"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Prior":
        """Return the prior saved in a JSON file, or that of a model learned from logs."""
        data, source = read_json(path), str(path)
        if isinstance(data, dict) and data.get("format") == MODEL_FORMAT:
            data, source = data.get("prior"), f"{source}: prior"
        return cls.from_dict(data, source)

    def plot(self, ax: "Axes | None" = None) -> "Figure":
        """Draw each state's means as a line in a band of one standard deviation of its users."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(max(6.0, 0.45 * self.n_arms), 4.0), layout="constrained")
        figure = ax.get_figure()
        assert figure is not None
        order = np.argsort(-self.population_mean, kind="stable")
        g, sd = self.likelihood.mean, np.sqrt(self.variances)
        for s in np.argsort(-self.shares, kind="stable")[:DRAWN]:
            mean, low, high = (g(self.means[s] + x * sd[s])[order] for x in (0.0, -1.0, 1.0))
            label = f"state {s}: {100 * self.shares[s]:.0f} %, scale {self.scales[s]:.2g}"
            (line,) = ax.plot(mean, marker="o", markersize=3, label=label)
            ax.fill_between(np.arange(len(mean)), low, high, color=line.get_color(), alpha=0.15)
        ax.set_xticks(range(self.n_arms), [self.arms[a] for a in order], rotation=45, ha="right")
        ax.set_ylabel("mean reward")
        ax.legend(fontsize="small")
        return figure.figure if hasattr(figure, "figure") else figure  # type: ignore[return-value]

    def _rows(self) -> list[dict[str, Any]]:
        """Return a row per state: its share, its scale, and the mean reward of each arm."""
        columns = self.shares.tolist(), self.scales.tolist(), self.state_means.tolist()
        return [
            {"state": s, "share": share, "scale": scale, **dict(zip(self.arms, means, strict=True))}
            for s, (share, scale, means) in enumerate(zip(*columns, strict=True))
        ]

    def _caption(self) -> str:
        return self._title()

    def _title(self) -> str:
        states, arms = counted(self.n_states, "state"), counted(self.n_arms, "arm")
        noise = f" of sigma {self.sigma:.3g}" if isinstance(self.likelihood, Gaussian) else ""
        columns = counted(self.loadings.shape[1], "loading")
        return f"{states} of {arms}, {self.likelihood.name} rewards{noise}, {columns}"

    def __str__(self) -> str:
        lines = [self._title()]
        for s in np.argsort(-self.shares, kind="stable"):
            share = f"{100 * self.shares[s]:.3g} % of users, scale {self.scales[s]:.2g}"
            best = "; ".join(self._best_arms(s, arms) for arms in arms_by_context(self.arms))
            lines.append(f"state {s}: {share}: {best}")
        return "\n".join(lines)

    def _best_arms(self, state: int, arms: list[int]) -> str:
        """Return some arms by their means in a state, the best first, in words."""
        mean = self.likelihood.mean(self.means[state])
        ranked = sorted(arms, key=lambda a: -mean[a])
        words = [f"{self.arms[a]} {mean[a]:.3g}" for a in ranked[:SHOWN]]
        return " > ".join([*words, "..."] if len(arms) > SHOWN else words)


def _check_known(known: LatentOrders, means: FloatArray, arms: tuple[str, ...]) -> None:
    if known.arms != arms or known.n_states != len(means):
        raise LobInputError(
            f"known are orders of {counted(known.n_states, 'state')} over the arms {known.arms}; "
            f"the prior has {counted(len(means), 'state')} over {arms}"
        )


def _shares(value: ArrayLike, m: int) -> FloatArray:
    shares = finite_array("shares", value, ndim=1)
    if shares.shape != (m,) or (shares <= 0).any() or abs(shares.sum() - 1) > NEARLY:
        raise LobInputError(
            f"shares must be {m} positive numbers that sum to 1, one for each state, "
            f"got {shares.tolist()}"
        )
    exact = abs(shares.sum() - 1) <= ROUNDING  # left as they are, so that they come back equal
    normal: FloatArray = shares if exact else shares / shares.sum()
    return normal


def _not_negative(name: str, value: ArrayLike, n: int, noun: str) -> FloatArray:
    numbers = finite_array(name, value, ndim=1)
    if numbers.shape != (n,) or (numbers < 0).any():
        raise LobInputError(
            f"{name} must be {n} numbers that are not negative, one for each {noun}, "
            f"got {numbers.tolist()!s:.80}"
        )
    return numbers


def _own(value: ArrayLike, m: int, k: int) -> FloatArray:
    own = np.asarray(value, np.float64)
    if own.ndim == 2 and own.shape == (m, k):
        _not_negative("own", own.ravel(), m * k, "state and arm")
        return finite_array("own", own)
    return _not_negative("own", value, k, "arm")


def _loadings(value: ArrayLike, k: int) -> FloatArray:
    loadings = np.asarray(value, np.float64)
    loadings = finite_array("loadings", loadings.reshape(k, -1) if not loadings.size else loadings)
    if loadings.ndim != 2 or len(loadings) != k:
        raise LobInputError(
            f"loadings must have a row for each of the {k} arms, got the shape {loadings.shape}"
        )
    return loadings


def _directions(value: ArrayLike | None, m: int, k: int) -> FloatArray | None:
    if value is None:
        return None
    directions = finite_array("directions", value, ndim=3)
    if directions.shape[:2] != (m, k):
        raise LobInputError(f"directions must have the shape ({m}, {k}, e), got {directions.shape}")
    return directions


def _without_warnings(means: FloatArray, arms: tuple[str, ...]) -> LatentOrders:
    """Return the orders of the means; states that differ in numbers only have the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LatentOrders.from_means(means, arms).within_contexts()


def checked_prior(given: HasPrior) -> Prior:
    """Return the prior that a policy is given, or say where one comes from."""
    prior = getattr(given, "prior", None)
    if not isinstance(prior, Prior):
        raise LobInputError(
            "a Prior or a Model is needed, as lob.learn(logs) or Prior.from_orders(orders) makes "
            f"it, got {type(given).__name__}"
        )
    return prior
