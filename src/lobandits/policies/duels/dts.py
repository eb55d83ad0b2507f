"""DoubleTS: dueling without orders, double Thompson sampling (Wu and Liu 2016)."""

from dataclasses import dataclass, field

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, positive, whole
from lobandits.orders.arms import arm_names
from lobandits.policies.duels.duel_policy import DuelPolicy, DuelState


@dataclass(frozen=True)
class DoubleTS(DuelPolicy):
    r"""Let a likely winner duel the arm most likely to beat it; no orders are known.

    With :math:`\theta_{ij} \sim \mathrm{Beta}(w_{ij} + 1, w_{ji} + 1)` and
    :math:`u_{ij}, l_{ij} = \hat p_{ij} \pm \sqrt{\alpha \log t / n_{ij}}`, the first arm wins the
    most drawn comparisons :math:`\theta_{ij} > 1/2` among the arms that win the most by
    :math:`u_{ij} > 1/2`. The second arm has the largest new draw against the first, among those
    with :math:`l \le 1/2`. Ties are broken at random.

    Parameters
    ----------
    n_arms
        Number of arms.
    alpha
        The width of the bounds; 0.51 in Wu and Liu.
    arms
        Their names; by default ``"0", "1", ...``.

    Examples
    --------
    >>> policy = DoubleTS(n_arms=3)
    >>> state = policy.start()
    >>> policy.record(state, pairs=[[0, 1]] * 50 + [[0, 2]] * 50, winners=[0] * 100, users=0)
    >>> policy.choose(state, rng=0)
    array([[0, 0]])
    """

    name = "dts"
    n_arms: int
    alpha: float = 0.51
    arms: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self._set(
            n_arms=whole("n_arms", self.n_arms),
            alpha=positive("alpha", self.alpha),
            arms=arm_names(self.n_arms, self.arms or None),
        )

    def pairs(self, state: DuelState, rng: np.random.Generator) -> IntArray:
        """Return two arms for each user to compare, (n_users, 2), unchecked."""
        wins = state.wins.astype(np.float64)
        duels = wins + wins.transpose(0, 2, 1)
        played = np.maximum(duels, 1.0)
        mean = np.where(duels > 0, wins / played, 0.5)
        now = 1.0 + duels.sum(axis=(1, 2), keepdims=True) / 2
        width = np.where(duels > 0, np.sqrt(self.alpha * np.log(now) / played), np.inf)
        first = self._first(wins, mean + width, rng)
        return np.stack([first, self._second(first, wins, mean - width, rng)], axis=1)

    def _first(self, wins: FloatArray, upper: FloatArray, rng: np.random.Generator) -> IntArray:
        """Return the arm that wins the most drawn comparisons, among likely winners."""
        draws = np.triu(rng.beta(wins + 1.0, wins.transpose(0, 2, 1) + 1.0), 1)
        draws += np.tril(1.0 - draws.transpose(0, 2, 1), -1)
        others = ~np.eye(self.n_arms, dtype=np.bool_)
        likely = ((upper > 0.5) & others).sum(axis=2)
        candidates = likely == likely.max(axis=1, keepdims=True)
        score = ((draws > 0.5) & others).sum(axis=2)
        return _largest(np.where(candidates, score, -1.0), rng)

    def _second(
        self, first: IntArray, wins: FloatArray, lower: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        """Return the arm of the largest new draw against the first, among the uncertain."""
        users = np.arange(len(wins))
        draws = rng.beta(wins[users, :, first] + 1.0, wins[users, first] + 1.0)
        draws[users, first] = 0.5
        uncertain: BoolArray = lower[users, :, first] <= 0.5
        uncertain[users, first] = True
        return _largest(np.where(uncertain, draws, -1.0), rng)


def _largest(values: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return the position of each row's largest value, ties at random."""
    ties = values == values.max(axis=1, keepdims=True)
    chosen: IntArray = np.where(ties, rng.random(values.shape), -1.0).argmax(axis=1)
    return chosen
