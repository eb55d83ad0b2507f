"""Prior: what past users tell of a new one, before the first reward."""

import os
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import (
    FloatArray,
    IntArray,
    checked_spread,
    finite_array,
    fraction,
    generator,
    not_negative,
    positive,
    read_only,
    whole,
)
from lobandits._files import check_versioned, read_json, write_versioned
from lobandits._frozen import Frozen
from lobandits._jit import writable
from lobandits._tables import Tabular
from lobandits._words import counted
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.orders.arms import Arm, arm_index, arm_names
from lobandits.orders.contexts import arms_by_context
from lobandits.orders.storage import MODEL_FORMAT
from lobandits.priors.posterior import (
    Components,
    log_tails,
    make_posterior,
    posterior_of_users,
    states_last,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMAT, VERSION = "lobandits.prior", 1
FIELDS = ("arms", "shares", "means", "spread", "shift", "scales", "sigma", "factors", "known")
NOUN = "a saved prior"
SHOWN = 5  # arms of a state in words
DRAWN = 8  # states in a picture, the most common first
EXTREME = 1e6  # times the spread of the means: sigma beyond tells nothing, or all, at once
NEARLY = 1e-6  # shares and chances that sum to one but for rounding in a file
ROUNDING = 1e-12  # but for that of a sum


def _known(data: Any) -> LatentOrders | None:
    return None if data is None else LatentOrders.from_dict(data, "known")


@dataclass(frozen=True)
class Prior(Frozen, Tabular):
    r"""A user's means before the first reward: a mixture of Gaussians, one for each state.

    .. math:: \mu \mid s \sim N(m_s, C_s), \qquad
        C_s = \Sigma + \tau^2 1 1^T + \rho_s^2 d_s d_s^T, \qquad d_s = m_s - \bar m_s 1,

    where a user is in state s with the chance w_s. `learn_prior` learns one from logs, and
    `from_orders` makes one of orders alone.

    Parameters
    ----------
    arms : names of the k arms
    shares : (m,)
        w, how common the states are.
    means : (m, k)
        The states' means m_s.
    spread : (k, k)
        Sigma: how users of one state differ in everything but shift and scale.
    shift
        tau, the standard deviation of what a user adds to all arms alike.
    scales : (m,)
        rho: users of a state have 1 + rho_s times its differences between arms, give or take.
    sigma
        Standard deviation of a reward.
    factors : (b,), optional
        Overall factors, all as likely, on means and spread but not on the shift; one, of 1,
        unless the scale of the rewards is unknown.
    known : LatentOrders, optional
        The states' orders, where these are known; else `orders` are those of the means.

    Examples
    --------
    >>> prior = Prior(["x", "y"], [0.75, 0.25], [[3, 1], [1, 4]], np.eye(2), 0.5, [0.2, 0.3], 1.0)
    >>> print(prior)
    2 states of 2 arms; sigma 1, shift 0.5
    state 0: 75 % of users, scale 0.2: x 3 > y 1
    state 1: 25 % of users, scale 0.3: y 4 > x 1
    """

    arms: tuple[str, ...]
    shares: FloatArray
    means: FloatArray
    spread: FloatArray
    shift: float
    scales: FloatArray
    sigma: float
    factors: FloatArray = field(default_factory=lambda: np.ones(1), repr=False)
    known: LatentOrders | None = field(default=None, repr=False, metadata={"decode": _known})

    def __post_init__(self) -> None:
        means = finite_array("means", self.means, ndim=2)
        arms = arm_names(means.shape[1], self.arms)
        factors = finite_array("factors", self.factors, ndim=1)
        if not len(factors) or (factors <= 0).any():
            raise LobInputError(f"factors must be positive numbers, got {self.factors!r}")
        if self.known is not None:
            _check_known(self.known, means, arms)
        self._set(
            arms=arms,
            means=means,
            shares=_shares(self.shares, len(means)),
            spread=_spread(self.spread, means.shape[1]),
            shift=not_negative("shift", self.shift),
            scales=_scales(self.scales, len(means)),
            sigma=positive("sigma", self.sigma),
            factors=factors,
        )

    @classmethod
    def from_orders(cls, orders: LatentOrders, sigma: float = 1.0) -> "Prior":
        """Return a scale-free prior for orders without logs.

        See `lobandits.priors.from_orders.prior_of_orders`.
        """
        from lobandits.priors.from_orders import prior_of_orders

        return prior_of_orders(orders, sigma)

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
        """The states' orders: those known, or the orders of their means, within contexts."""
        return self.known or _without_warnings(self.means, self.arms)

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
        """Return how far users keep their state's order, (m,): 1 for all of it, 1/2 for chance.

        That is the chance that a user of the state ranks two arms as its order does, on average
        over all pairs that the order compares; nan where it compares none.
        """
        pairs = self.orders.precedes
        with np.errstate(invalid="ignore"):
            kept: FloatArray = (self._above() * pairs).sum(axis=(1, 2)) / pairs.sum(axis=(1, 2))
        return kept

    def _above(self) -> FloatArray:
        """Return the chance that a user of a state likes a more than b, (m, k, k)."""
        from scipy.special import ndtr

        covariance = self._covariances()
        own = np.diagonal(covariance, axis1=1, axis2=2)
        gap = self.means[:, :, None] - self.means[:, None, :]
        variance = own[:, :, None] + own[:, None, :] - 2 * covariance
        chances: FloatArray = ndtr(gap / np.sqrt(np.maximum(variance, np.finfo(float).tiny)))
        return chances

    def draw(self, n: int, rng: np.random.Generator | int) -> tuple[IntArray, FloatArray]:
        """Draw users as the prior sees them: their states (n,) and their means (n, k)."""
        random, n = generator(rng), whole("n", n)
        states = random.choice(self.n_states, size=n, p=self.shares)
        factors = random.choice(self.factors, size=(n, 1))
        own = random.standard_normal((n, self.n_arms)) @ np.linalg.cholesky(self.spread).T
        scales = self.scales[states, None] * random.standard_normal((n, 1))
        means = factors * (self.means[states] + scales * self._directions[states] + own)
        return states, means + self.shift * random.standard_normal((n, 1))

    def with_arm(self, name: str, like: Arm | None = None) -> "Prior":
        r"""Return the prior with one more arm, the last, of which no log knows.

        Like an arm a, a user's mean of the new arm is that of a and a deviation of its own,

        .. math:: \mu_{new} = \mu_a + \delta, \qquad \delta \sim N(0, \Sigma_{aa}).

        Without one, it is wide: the average of the state's means, give or take what its arms
        differ by,

        .. math:: \mu_{new} \mid s \sim N(\bar m_s + c, v), \qquad
                  v = \overline{\Sigma_{aa}} + \sum_s w_s \mathrm{Var}_a(m_{sa}),

        with the user's shift c, and independent of the other arms.

        >>> prior = Prior(["x", "y"], [1.0], [[3, 1]], np.eye(2), 0.5, [0.2], 1.0)
        >>> print(prior.with_arm("z", like="x"))
        1 state of 3 arms; sigma 1, shift 0.5
        state 0: 100 % of users, scale 0.2: x 3 > z 3 > y 1
        >>> prior.with_arm("z").means
        array([[3., 1., 2.]])
        """
        orders = self.orders.with_arm(name, like)
        k = self.n_arms
        spread = np.zeros((k + 1, k + 1))
        spread[:k, :k] = self.spread
        if like is None:
            new = self.means.mean(axis=1)
            spread[k, k] = np.diag(self.spread).mean() + self.shares @ self.means.var(axis=1)
        else:
            a = arm_index(self.arms, like)
            new = self.means[:, a]
            spread[k, :k] = spread[:k, k] = self.spread[a]
            spread[k, k] = 2 * self.spread[a, a]
        means = np.column_stack([self.means, new])
        return self._with(arms=orders.arms, means=means, spread=spread, known=orders)

    @cached_property
    def population_mean(self) -> FloatArray:
        """The mean of all users, (k,)."""
        return read_only(self.factors.mean() * (self.shares @ self.means))

    @cached_property
    def population_covariance(self) -> FloatArray:
        """The covariance of all users' means, (k, k)."""
        square = float(np.mean(self.factors**2))
        within = np.tensordot(self.shares, self._covariances() - self.shift**2, 1)
        second = np.einsum("s,sa,sb->ab", self.shares, self.means, self.means)
        mean = self.population_mean
        return read_only(square * (within + second) - np.outer(mean, mean) + self.shift**2)

    def _covariances(self) -> FloatArray:
        """Return C_s of every state, (m, k, k), with a factor of 1."""
        d = self._directions
        personal = (self.scales**2)[:, None, None] * d[:, :, None] * d[:, None, :]
        covariances: FloatArray = self.spread + self.shift**2 + personal
        return covariances

    @cached_property
    def _directions(self) -> FloatArray:
        directions: FloatArray = self.means - self.means.mean(axis=1, keepdims=True)
        return directions

    def components(self, stranger: float = 0.0, freedom: float = 0.0) -> Components:
        """Return the prior as kernels read it, with a stranger of weight ``stranger``.

        With ``freedom``, states are judged by Student's t of so many degrees of freedom.

        The stranger is a user like none in the logs: its arms are exchangeable, as different from
        each other as those of a user of the population.
        """
        factors = self.factors
        a = factors[:, None, None] ** 2 * self.spread + self.shift**2
        log_share = np.log(np.tile(self.shares, len(factors)) * (1 - stranger) / len(factors))
        k, total = self.n_arms, self.population_covariance
        contrasts = np.trace(total) - total.sum() / k
        own = (contrasts + self.population_mean.var() * k) / max(k - 1, 1)
        with np.errstate(divide="ignore"):
            log_stranger = float(np.log(stranger))
        direction = np.concatenate([f * self._directions for f in factors])
        return Components(
            log_share=log_share,
            mean=np.concatenate([f * self.means for f in factors]),
            direction=direction,
            centre=np.concatenate([f * self.means.mean(axis=1) for f in factors]),
            across=states_last(direction, len(factors)),
            square=np.tile(self.scales**2, len(factors)),
            precision=np.linalg.inv(a).astype(np.float64),
            log_det=np.linalg.slogdet(a)[1],
            level=float(self.population_mean.mean()),
            own=float(max(own, np.finfo(float).tiny)),
            common=float(max(total.mean(), np.finfo(float).tiny)),
            log_stranger=log_stranger,
            freedom=freedom,
            log_tail=log_tails(freedom, k),
        )

    def posterior(
        self, counts: ArrayLike, sums: ArrayLike, sigma: float | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the chances of the states, the means and the log evidence of users' rewards.

        Parameters
        ----------
        counts, sums : (n, k)
            The number and the sum of each user's rewards from each arm.
        sigma
            Of a reward, if not the prior's own.

        Returns
        -------
        chances : (n, m)
        means : (n, k)
            Posterior means.
        log_evidence : (n,)
            Log density of the averages of the arms that have rewards.
        """
        number = finite_array("counts", counts, ndim=2)
        total = finite_array("sums", sums, ndim=2)
        for name, array in (("counts", number), ("sums", total)):
            if array.shape != (len(number), self.n_arms):
                raise LobInputError(
                    f"{name} must have the shape ({len(number)}, {self.n_arms}), got {array.shape}"
                )
        if (number < 0).any():
            raise LobInputError("counts must not be negative")
        noise = self.sigma if sigma is None else positive("sigma", sigma)
        n, b, m = len(number), len(self.factors), self.n_states
        shares, means, log = np.empty((n, b * m + 1)), np.empty(number.shape), np.empty(n)
        room = make_posterior(b, m, self.n_arms)
        given = writable(number.astype(np.int64)), writable(total)
        posterior_of_users(*given, noise, self.components(), room, shares, means, log)
        return shares[:, :-1].reshape(n, b, m).sum(axis=1), means, log

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as plain data, for JSON."""
        return {"format": FORMAT, "version": VERSION, **self._plain()}

    @classmethod
    def from_dict(cls, data: Any, source: str = "prior") -> "Prior":
        """Return the prior that `to_dict` described; errors open with ``source``."""
        checked = check_versioned(data, source, FORMAT, VERSION, FIELDS, NOUN)
        return cls._made(checked, source)

    @classmethod
    def _made(cls, data: dict[str, Any], source: str) -> "Prior":
        content = {name: data[name] for name in data if name not in ("format", "version")}
        try:
            return cls(**cls._decoded(content, "the prior"))
        except LobInputError as error:
            raise LobInputError(f"{source}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file that `load` reads; nothing in it tells of single users."""
        write_versioned(path, FORMAT, VERSION, self._plain(), rows=("means", "spread"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Prior":
        """Return the prior saved in a JSON file, or that of a model learned from logs."""
        data, source = read_json(path), str(path)
        if isinstance(data, dict) and data.get("format") == MODEL_FORMAT:
            if data.get("prior") is None:
                raise LobInputError(
                    f"{source} is a model of orders only; learn it with method='prior'"
                )
            data, source = data["prior"], f"{source}: prior"
        return cls.from_dict(data, source)

    def plot(self, ax: "Axes | None" = None) -> "Figure":
        """Draw each state's means as a line in a band of one standard deviation of its users."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(max(6.0, 0.45 * self.n_arms), 4.0), layout="constrained")
        figure = ax.get_figure()
        assert figure is not None
        order = np.argsort(-self.population_mean, kind="stable")
        own = self._covariances()[:, order, order] - self.shift**2
        for s in np.argsort(-self.shares, kind="stable")[:DRAWN]:
            mean, sd = self.means[s, order], np.sqrt(own[s])
            label = f"state {s}: {100 * self.shares[s]:.0f} %, scale {self.scales[s]:.2g}"
            (line,) = ax.plot(mean, marker="o", markersize=3, label=label)
            ax.fill_between(
                np.arange(len(mean)), mean - sd, mean + sd, color=line.get_color(), alpha=0.15
            )
        ax.set_xticks(range(self.n_arms), [self.arms[a] for a in order], rotation=45, ha="right")
        ax.set_ylabel("mean reward")
        ax.legend(fontsize="small")
        return figure.figure if hasattr(figure, "figure") else figure  # type: ignore[return-value]

    def _rows(self) -> list[dict[str, Any]]:
        """Return a row per state: its share, its scale, and the mean of each arm."""
        columns = zip(self.shares.tolist(), self.scales.tolist(), self.means.tolist(), strict=True)
        return [
            {"state": s, "share": share, "scale": scale, **dict(zip(self.arms, means, strict=True))}
            for s, (share, scale, means) in enumerate(columns)
        ]

    def _caption(self) -> str:
        return f"sigma {self.sigma:.3g}, shift {self.shift:.3g}"

    def __str__(self) -> str:
        states, arms = counted(self.n_states, "state"), counted(self.n_arms, "arm")
        lines = [f"{states} of {arms}; sigma {self.sigma:.3g}, shift {self.shift:.3g}"]
        for s in np.argsort(-self.shares, kind="stable"):
            share = f"{100 * self.shares[s]:.3g} % of users, scale {self.scales[s]:.2g}"
            best = "; ".join(self._best_arms(s, arms) for arms in arms_by_context(self.arms))
            lines.append(f"state {s}: {share}: {best}")
        return "\n".join(lines)

    def _best_arms(self, state: int, arms: list[int]) -> str:
        """Return some arms by their means in a state, the best first, in words."""
        ranked = sorted(arms, key=lambda a: -self.means[state, a])
        words = [f"{self.arms[a]} {self.means[state, a]:.3g}" for a in ranked[:SHOWN]]
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


def _scales(value: ArrayLike, m: int) -> FloatArray:
    scales = finite_array("scales", value, ndim=1)
    if scales.shape != (m,) or (scales < 0).any():
        raise LobInputError(
            f"scales must be {m} numbers that are not negative, one for each state, "
            f"got {scales.tolist()}"
        )
    return scales


def _spread(value: ArrayLike, k: int) -> FloatArray:
    spread = finite_array("spread", value, ndim=2)
    if spread.shape != (k, k):
        raise LobInputError(f"spread must have the shape ({k}, {k}), got {spread.shape}")
    if not np.allclose(spread, spread.T, rtol=1e-9, atol=0):
        raise LobInputError("spread must be a symmetric matrix")
    symmetric: FloatArray = 0.5 * (spread + spread.T)
    if np.linalg.eigvalsh(symmetric)[0] <= 0:
        raise LobInputError(
            "spread must be positive definite: every arm needs some variance of its own"
        )
    return symmetric


def _without_warnings(means: FloatArray, arms: tuple[str, ...]) -> LatentOrders:
    """Return the orders of the means; states that differ in numbers only have the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LatentOrders.from_means(means, arms).within_contexts()


# What a policy on a prior is given -----------------------------------------------------------


def checked_prior(prior: Prior) -> Prior:
    """Return a prior, or say where one comes from."""
    if not isinstance(prior, Prior):
        raise LobInputError(
            "prior must be a Prior, as learn_prior(logs) or Prior.from_orders(orders) makes it, "
            f"got {type(prior).__name__}"
        )
    return prior


def checked_sigma(prior: Prior, sigma: float | None) -> float:
    """Return the noise of rewards: as given, or the prior's."""
    return prior.sigma if sigma is None else checked_spread("sigma", sigma)


def sound_sigma(prior: Prior, sigma: float) -> float:
    """Return sigma, cut to where precisions N / sigma^2 and the prior's can be added."""
    size = float(np.sqrt(np.trace(prior.population_covariance) / prior.n_arms))
    return min(max(sigma, size / EXTREME), size * EXTREME)
