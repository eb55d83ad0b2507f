"""learn_prior: from the table of rewards to states with their shares, scales and spread."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lobandits._checks import FloatArray, IntArray, positive, whole
from lobandits.errors import LobInputError
from lobandits.learning.curve import EvidenceCurve
from lobandits.learning.logs import Logs, reward_table
from lobandits.learning.mixture import Parameters, Penalty, climb, log_evidence
from lobandits.learning.starts import grouped, one_state, posterior_means
from lobandits.learning.table import RewardTable
from lobandits.priors import Prior

SAMPLE = 4000  # users that teach the starts and the number of states
STARTS, SHORT, LONG, LAST = 3, 15, 150, 30  # EM from several starts, the best, on all users
FOLDS, CURVE_USERS, CURVE_STEPS = 5, 1000, 40  # for the number of states
CLEAR = 3.0  # standard errors by which states must beat one state
GRID = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48)
PER_STATE = 8  # users that a state needs to be thought of
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

    Parameters
    ----------
    logs, user, arm, reward
        As in `reward_table`.
    n_states
        Number of states; by default the fewest whose evidence on held-out users is within a
        standard error of the best. One state is a possible answer.
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
    rng = np.random.default_rng([whole("seed", seed, least=0), table.n_users])
    noise, source, extra = _noise(table, sigma)
    some = np.sort(rng.permutation(table.n_users)[:SAMPLE])
    sample = table.counts[some], table.sums[some]
    curve = None
    if m is None:
        if extra is not None:  # one value for all folds
            noise = one_state(*sample, noise, _part(table, some))[0].sigma
        few = slice(CURVE_USERS)
        curve = evidence_curve(sample[0][few], sample[1][few], noise, rng)
        m = curve.chosen
    teaching = _part(table, some) if extra is not None else None
    p, penalty = fit_states(*sample, noise, m, rng, extra=teaching, workers=workers)
    steps = LAST if len(some) < table.n_users else 1
    p, trace = climb(table.counts, table.sums, p, penalty, steps, extra, workers)
    prior = Prior(table.arms, p.shares, p.means, p.spread, p.shift, p.scales, p.sigma)
    chances, _, _ = prior.posterior(table.counts, table.sums)
    return LearnedPrior(prior, chances.argmax(axis=1), curve, source, trace)


def _noise(
    table: RewardTable, sigma: float | None
) -> tuple[float, str, tuple[float, float] | None]:
    """Return sigma or where it starts, where it comes from, and the squares if EM finds it."""
    if sigma is not None:
        return positive("sigma", sigma), "given", None
    repeats = int(np.maximum(table.counts - 1, 0).sum())
    within = table.noise()
    if repeats >= REPEATS and within > 0:
        return within, "cells", None
    tried = table.counts > 0
    spread = float(table.means[tried].std())
    if not spread > 0:
        raise LobInputError("all rewards are equal; there is nothing to learn")
    return spread, "model", _part(table, np.arange(table.n_users))


def _part(table: RewardTable, users: IntArray) -> tuple[float, float]:
    """Return the sum of squares within cells, and the number of rewards, of some users."""
    counts, sums = table.counts[users], table.sums[users]
    within = table.squares[users] - sums * sums / np.maximum(counts, 1)
    return float(np.maximum(within, 0.0).sum()), float(counts.sum())


def fit_states(
    counts: IntArray,
    sums: FloatArray,
    sigma: float,
    n_states: int,
    rng: np.random.Generator,
    starts: int = STARTS,
    steps: int = LONG,
    extra: tuple[float, float] | None = None,
    workers: int | None = None,
) -> tuple[Parameters, Penalty]:
    """Return the best of some short climbs, climbed to the end, and the penalty."""
    one, penalty = one_state(counts, sums, sigma, extra)
    if n_states == 1:
        return one, penalty._replace(means=0.0)
    means = posterior_means(counts, sums, one)
    best, found = -np.inf, one
    for _ in range(starts):
        start = grouped(means, one, n_states, rng)
        p, trace = climb(counts, sums, start, penalty, SHORT, None, workers)
        if trace[-1] > best:
            best, found = trace[-1], p
    return climb(counts, sums, found, penalty, steps, extra, workers)[0], penalty


def evidence_curve(
    counts: IntArray,
    sums: FloatArray,
    sigma: float,
    rng: np.random.Generator,
    grid: Sequence[int] = GRID,
) -> EvidenceCurve:
    """Return the evidence of users held out in turn, by the number of states.

    The grid ends where evidence has clearly fallen twice, or states would have too few users.
    """
    n = len(counts)
    fold = rng.permutation(n) % FOLDS
    tried: list[int] = []
    by_user: list[FloatArray] = []
    falls = 0
    for m in grid:
        if m > 1 and (m * PER_STATE > n or falls == 2):
            break
        values = np.empty(n)
        for f in range(FOLDS):
            out = fold == f
            p, _ = fit_states(counts[~out], sums[~out], sigma, m, rng, 1, CURVE_STEPS)
            values[out] = log_evidence(counts[out], sums[out], p)
        tried.append(m)
        by_user.append(values)
        top = max(by_user, key=np.mean)
        falls = falls + 1 if _behind(values, top) else 0
    return _curve(tried, by_user)


def _behind(values: FloatArray, best: FloatArray, errors: float = 1.0) -> bool:
    """Tell whether users' evidence is below the best by more than some standard errors."""
    gap = best - values
    return bool(gap.mean() > errors * gap.std() / np.sqrt(len(gap)))


def _curve(tried: list[int], by_user: list[FloatArray]) -> EvidenceCurve:
    best = max(by_user, key=np.mean)
    chosen = 1
    if _behind(by_user[0], best, CLEAR):
        chosen = next(m for m, v in zip(tried, by_user, strict=True) if not _behind(v, best))
    gains = np.array([values - by_user[0] for values in by_user])
    return EvidenceCurve(
        n_states=tuple(tried),
        evidence=np.array([values.mean() for values in by_user]),
        gain=gains.mean(axis=1),
        error=gains.std(axis=1) / np.sqrt(gains.shape[1]),
        chosen=chosen,
    )
