"""learn_prior: from the table of rewards to states with their shares, scales and spread."""

from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np

from lobandits._checks import IntArray, positive, whole
from lobandits.errors import LobInputError
from lobandits.learning.curve import EvidenceCurve, evidence_curve
from lobandits.learning.fit import fit_states, one_state, population
from lobandits.learning.logs import Logs, reward_table
from lobandits.learning.mixture import climb
from lobandits.learning.table import RewardTable
from lobandits.priors import Prior

FEW, SOME, MANY = 1000, 4000, 20_000  # users who tell the number of states, the starts, and all
LAST = 30  # steps of EM on the many
MOST_ARMS = 400
REPEATS = 30  # rewards beyond the first in their cells, to tell sigma


@dataclass(frozen=True)
class LearnedPrior:
    """A prior learned from logs, and how.

    Attributes
    ----------
    prior : Prior
    labels : (n_users,)
        The likeliest state of each user.
    curve : EvidenceCurve or None
        How the number of states was chosen; None if it was given.
    sigma_from : str
        "given", "cells" (repeats within cells) or "model".
    trace : list of float
        Penalised evidence before each step of the last EM.
    """

    prior: Prior
    labels: IntArray
    curve: EvidenceCurve | None
    sigma_from: str
    trace: list[float] = field(repr=False)


def learn_prior(
    logs: Logs,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    *,
    n_states: int | None = None,
    sigma: float | None = None,
    seed: int = 0,
    workers: int | None = None,
) -> LearnedPrior:
    """Learn a `Prior` from logs by EM; every cell of the table counts with its own precision.

    Of more than 20,000 users, so many at random teach; all get a label.

    Parameters
    ----------
    logs, user, arm, reward
        As in `reward_table`.
    n_states
        Number of states; by default chosen on held-out users, see `EvidenceCurve`. One state is a
        possible answer.
    sigma
        Standard deviation of a reward; by default from repeats within cells, or else as a
        parameter of the model.
    seed
        Of starts, folds and samples.
    workers
        Threads; results do not depend on them.

    Examples
    --------
    >>> import lobandits as lob
    >>> ratings = lob.make_ratings(n_users=300, n_arms=6, n_states=3)
    >>> learned = learn_prior(ratings.table, "userId", "genre", "rating", n_states=3)
    >>> learned.prior.n_states, len(learned.labels)
    (3, 300)
    """
    table = reward_table(logs, user, arm, reward)
    m = None if n_states is None else whole("n_states", n_states)
    if m is not None and m > table.n_users:
        raise LobInputError(f"n_states is {m:,}, but there are only {table.n_users:,} users")
    check_arms(table.n_arms)
    rng = np.random.default_rng([whole("seed", seed, least=0), table.n_users])
    noise, source = _noise(table, sigma)

    def squares(users: IntArray) -> tuple[float, float] | None:
        """Return what EM needs of some users if it is to find sigma."""
        return _within(table, users) if source == "model" else None

    shuffled = rng.permutation(table.n_users)
    few, some, many = (np.sort(shuffled[:number]) for number in (FEW, SOME, MANY))
    sample = table.counts[some], table.sums[some]
    curve = None
    if m is None:
        if source == "model":  # one value for all folds
            noise = one_state(*sample, noise, squares(some))[0].sigma
        own = deepcopy(rng)  # so that the number chosen gives the prior of that number
        known = source != "model"
        curve = evidence_curve(table.counts[few], table.sums[few], noise, own, sigma_known=known)
        m = curve.chosen
    everybody = population(*sample, noise, squares(some))
    p = fit_states(*sample, everybody, m, rng, extra=squares(some), workers=workers)
    penalty = everybody.penalty if m > 1 else everybody.penalty._replace(means=0.0)
    steps = LAST if len(some) < table.n_users else 1
    everything = table.counts[many], table.sums[many]
    p, trace = climb(*everything, p, penalty, steps, squares(many), workers)
    prior = Prior(table.arms, p.shares, p.means, p.spread, p.shift, p.scales, p.sigma)
    chances, _, _ = prior.posterior(table.counts, table.sums)
    return LearnedPrior(prior, chances.argmax(axis=1), curve, source, trace)


def check_arms(n_arms: int) -> None:
    """Refuse more arms than EM can hold: its time grows with their cube."""
    if n_arms > MOST_ARMS:
        raise LobInputError(
            f"there are {n_arms:,} arms, each counted in every context, and a prior is learned of "
            f"at most {MOST_ARMS}; is this the column of arms? If so, drop rare ones "
            "(min_arm_rewards), or group arms or contexts"
        )


def _noise(table: RewardTable, sigma: float | None) -> tuple[float, str]:
    """Return sigma, or where EM starts to look for it, and where it comes from."""
    if sigma is not None:
        return positive("sigma", sigma), "given"
    repeats = int(np.maximum(table.counts - 1, 0).sum())
    within = table.noise()
    if repeats >= REPEATS and within > 0:
        return within, "cells"
    tried = table.counts > 0
    spread = float(table.means[tried].std())
    if not spread > 0:
        raise LobInputError("all rewards are equal; there is nothing to learn")
    return spread, "model"


def _within(table: RewardTable, users: IntArray) -> tuple[float, float]:
    """Return the sum of squares within cells, and the number of rewards, of some users."""
    counts, sums = table.counts[users], table.sums[users]
    within = table.squares[users] - sums * sums / np.where(counts > 0, counts, 1)
    return float(np.maximum(within, 0.0).sum()), float(counts.sum())
