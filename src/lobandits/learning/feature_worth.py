"""What features are worth: learned with the prior of one state, and judged on held-out users.

What they explain is taken out before states are looked for: else these would be of people whom
features tell apart already.
"""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.beliefs.feature_effects import FeatureEffects
from lobandits.beliefs.likelihood import Likelihood
from lobandits.learning.curve import FOLDS, log_evidence
from lobandits.learning.em import Map, Parameters, Users, climb
from lobandits.learning.feature_effects import fit_effects, no_effects
from lobandits.learning.starts import Data, Population, population, tastes
from lobandits.learning.user_features import UserFeatures

PASSES, STEPS = 2, 15  # of effects and of the prior in turn, and steps of EM in each
SEED = 20330  # of the folds
ENOUGH = 300  # users: of more, one fold of them is judged


class Known(NamedTuple):
    """What features tell of users before states are looked for; nothing without features."""

    features: UserFeatures | None = None
    everybody: Population | None = None  # the one state of those who teach it
    columns: FloatArray | None = None  # (k, p): what each column of x adds; None where nothing
    gain: float = 0.0  # nats for each held-out user
    error: float = 0.0

    def lift(self, data: Data, users: IntArray) -> Data:
        """Return the users' data with what features add to their tastes."""
        if self.features is None or self.columns is None:
            return data
        return data._replace(lifts=self.features.x[users] @ self.columns.T)

    def effects(
        self, blocks: list[Users], users: IntArray, p: Parameters, run: Map = map
    ) -> FeatureEffects | None:
        """Return W and B under the final parameters; the blocks' lifts become theirs."""
        if self.features is None:
            return None
        x = self.features.x[users]
        last = no_effects(p, x.shape[1])
        if self.columns is not None:
            last = fit_effects(blocks, x, p, run)
        return FeatureEffects(self.features.features, *last, self.gain, self.error)


def weigh(
    features: UserFeatures,
    data: Data,
    users: IntArray,
    judged: Data,
    judges: IntArray,
    likelihood: Likelihood,
    run: Map = map,
) -> Known:
    """Return what features tell: of ``users``, whose ``data`` teach, if held-out ones agree.

    ``judges`` are held out in turn; ``judged`` are their data.
    """
    everybody = population(data, likelihood, run)
    gain, error = worth(judged, features.x[judges], everybody.one.likelihood, run)
    if not gain > 0:
        return Known(features, everybody, None, gain, error)
    columns, known = with_effects(data, features.x[users], everybody, run)
    return Known(features, known, columns, gain, error)


def with_effects(
    data: Data, x: FloatArray, everybody: Population, run: Map = map
) -> tuple[FloatArray | None, Population]:
    """Return what each column of x adds to tastes, (k, p), and the users' one state then.

    Where features tell nothing, None, and the state as it was.
    """
    p, pull = everybody.one, everybody.pull
    columns = np.zeros((len(p.own), x.shape[1]))
    for _ in range(PASSES):
        blocks = data.blocks
        effects = fit_effects(blocks, x, p, run)
        if not effects.tell:
            return None, everybody
        columns = p.loadings @ effects.shared + effects.single
        p, pull, _ = climb(blocks, p, pull, STEPS, data.within, run)
    return columns, Population(p, pull, tastes(data._replace(lifts=x @ columns.T), p))


def worth(data: Data, x: FloatArray, likelihood: Likelihood, run: Map = map) -> tuple[float, float]:
    """Return by how many nats a user held out is foretold better with features, and the error.

    One state, with and without, is learned from the others.
    """
    n, gains = len(data.counts), np.zeros(len(data.counts))
    fold = np.random.default_rng(SEED).permutation(n) % FOLDS
    folds = FOLDS if n <= ENOUGH else 1
    for f in range(folds):
        rest, out = data.take(fold != f), data.take(fold == f)
        alone = population(rest, likelihood, run)
        columns, known = with_effects(rest, x[fold != f], alone, run)
        if columns is not None:
            lifted = out._replace(lifts=x[fold == f] @ columns.T)
            without = log_evidence(out, alone.one)
            gains[fold == f] = log_evidence(lifted, known.one) - without
    gains = gains[fold < folds]
    return float(gains.mean()), float(gains.std() / np.sqrt(len(gains)))
