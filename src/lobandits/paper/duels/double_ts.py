"""DoubleTS: duels without orders, double Thompson sampling (Wu and Liu 2016)."""

from dataclasses import dataclass

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray, generator, positive, whole
from lobandits.paper.duels.duel_policy import DuelPolicy


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
    """

    n_arms: int
    alpha: float = 0.51

    def __post_init__(self) -> None:
        self._set(n_arms=whole("n_arms", self.n_arms), alpha=positive("alpha", self.alpha))

    def choose(self, wins: IntArray, rng: np.random.Generator | int) -> IntArray:
        """Return two arms for each user to compare, (n_users, 2)."""
        rng, lost = generator(rng), wins.transpose(0, 2, 1)
        duels = wins + lost
        played = np.maximum(duels, 1)
        mean = np.where(duels > 0, wins / played, 0.5)
        now = 1.0 + duels.sum(axis=(1, 2), keepdims=True) / 2
        width = np.where(duels > 0, np.sqrt(self.alpha * np.log(now) / played), np.inf)

        others = ~np.eye(self.n_arms, dtype=np.bool_)
        draws = np.triu(rng.beta(wins + 1.0, lost + 1.0), 1)
        draws += np.tril(1.0 - draws.transpose(0, 2, 1), -1)
        likely = ((mean + width > 0.5) & others).sum(axis=2)
        score = ((draws > 0.5) & others).sum(axis=2)
        first = _largest(np.where(likely == likely.max(axis=1, keepdims=True), score, -1.0), rng)

        users = np.arange(len(wins))
        against = rng.beta(wins[users, :, first] + 1.0, wins[users, first] + 1.0)
        uncertain = (mean - width)[users, :, first] <= 0.5
        against[users, first], uncertain[users, first] = 0.5, True
        second = _largest(np.where(uncertain, against, -1.0), rng)
        return np.stack([first, second], axis=1)


def _largest(values: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return the position of each row's largest value, ties at random."""
    ties = values == values.max(axis=1, keepdims=True)
    chosen: IntArray = np.where(ties, rng.random(values.shape), -1.0).argmax(axis=1)
    return chosen
