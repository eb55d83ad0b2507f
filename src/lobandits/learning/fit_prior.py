"""fit_prior: from the table of rewards to a factor prior, with its number of states and noise."""

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from os import cpu_count

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray, one_of, whole
from lobandits.basics.progress import spinner
from lobandits.beliefs import LIKELIHOODS, Bernoulli, Gaussian, Likelihood, Prior
from lobandits.errors import LobInputError
from lobandits.learning.arm_effects import ArmFeatures, arm_effects, towards
from lobandits.learning.curve import CLEAR, EvidenceCurve, evidence_curve
from lobandits.learning.em import Map, careful, climb, expect_all
from lobandits.learning.feature_worth import Known, weigh
from lobandits.learning.starts import Data, fit_states, population, prior_of
from lobandits.learning.table import RewardTable, check_memory
from lobandits.learning.user_features import UserFeatures

FEW, SOME, MANY = 1000, 4000, 20_000  # users who tell the number of states, the starts, and all
LAST = 25  # steps of EM on the many
REPEATS = 30  # rewards beyond the first in their cells, to tell sigma
SHRUNK = 10.0  # rewards as noisy as on average, that every arm is thought to have
LABELLED = 2**16  # users whose states are told at a time
NUMBERS = 60  # of 8 bytes for each cell of the users who teach: normal equations, tastes, cells


@dataclass(frozen=True)
class Learned:
    """A prior learned from logs, and how.

    Attributes
    ----------
    prior : Prior
    labels : (n_users,)
        The likeliest state of each user.
    curve : EvidenceCurve or None
        How the number of states was chosen; None if it was given.
    sigma_from : str
        "given", "cells" (repeats within cells), "model", or "none" where there is no sigma.
    trace : list of float
        Penalised evidence before each of the last steps of EM.
    """

    prior: Prior
    labels: IntArray
    curve: EvidenceCurve | None
    sigma_from: str
    trace: list[float] = field(repr=False)


def fit_prior(
    table: RewardTable,
    likelihood: Likelihood | str | None = None,
    n_states: int | None = None,
    *,
    features: UserFeatures | None = None,
    arm_features: ArmFeatures | None = None,
    seed: int = 0,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Learned:
    """Learn a `Prior` by EM; every cell of the table counts with its own precision.

    Of more than 20,000 users, so many at random teach; all get a label.

    Parameters
    ----------
    table
        Who gave which arm how much.
    likelihood
        How rewards come; its name where its parameters are to be learned. By default "bernoulli"
        where all rewards are 0 or 1, else "gaussian".
    n_states
        Number of states; by default chosen on held-out users, see `EvidenceCurve`. One state is a
        possible answer.
    features
        What is known of the table's users before their first reward. What it explains is taken out
        before states are looked for.
    arm_features
        What is known of the table's arms; their means shrink to what it says.
    seed
        Of starts, folds and samples.
    workers, executor
        Threads, or where else blocks of users are summed up; results do not depend on them.
    progress
        Say what is being done, if standard error is a terminal.
    """
    m = None if n_states is None else whole("n_states", n_states)
    if m is not None and m > table.n_users:
        raise LobInputError(f"n_states is {m:,}, but there are only {table.n_users:,} users")
    kind, source = starting_likelihood(table, likelihood)
    _check_room(table, m)
    rng = np.random.default_rng([whole("seed", seed, least=0), table.n_users])
    shuffled = rng.permutation(table.n_users)
    few, some, many = (np.sort(shuffled[:number]) for number in (FEW, SOME, MANY))
    with _mapped(workers, executor) as run:
        data, curve, known = _data(table, some, source), None, Known()
        if features is not None:
            with spinner(progress, "weighing what features tell"):
                known = weigh(features, data, some, _data(table, few, "given"), few, kind, run)
                data = known.lift(data, some)
        if m is None:
            with spinner(progress, "choosing the number of states on held-out users"):
                if source == "model":  # one value for all folds
                    kind = (known.everybody or population(data, kind, run)).one.likelihood
                own = deepcopy(rng)  # so that the number chosen gives the prior of that number
                part = known.lift(_data(table, few, "given"), few)
                curve = evidence_curve(part, kind, own, sigma_known=source != "model", run=run)
                m = curve.chosen
        with spinner(progress, f"learning {m} state{'s' if m > 1 else ''} of users"):
            everybody = known.everybody or population(data, kind, run)
            if arm_features is not None:
                everybody = towards(arm_features, data, everybody, run)
            p, pull = fit_states(data, everybody, m, rng, run=run)
            everything = known.lift(_data(table, many, source), many)
            blocks = everything.blocks
            steps = LAST if len(some) < table.n_users else 4
            p, pull, trace = climb(blocks, p, pull, steps, everything.within, run)
            effects = known.effects(blocks, many, p, run)
            t, of_arms = expect_all(blocks, p, run), None
            if arm_features is not None:
                of_arms = arm_effects(arm_features, p, pull, t)
            p = careful(p, t)
        prior = prior_of(p, table.arms)._with(features=effects, arm_features=of_arms)
        with spinner(progress, "telling users' states"):
            labels = _labels(table, prior, features, run)
    return Learned(prior, labels, curve, source, trace)


def starting_likelihood(
    table: RewardTable, given: Likelihood | str | None
) -> tuple[Likelihood, str]:
    """Return the likelihood that EM starts from, and where its sigma comes from.

    Refuse rewards that are not of its kind.
    """
    tried = table.counts > 0
    cells = table.counts[tried].astype(np.float64), table.sums[tried], table.squares[tried]
    if given is None:
        given = "gaussian" if Bernoulli().fault(*cells) else "bernoulli"
    if isinstance(given, str):
        cls = LIKELIHOODS[one_of("likelihood", given, list(LIKELIHOODS))]
        if cls is Gaussian:
            sigma, source = _noise(table)
            return Gaussian(_by_arm(table, sigma) if source == "cells" else sigma), source
        given = cls()
    if not isinstance(given, Likelihood):
        raise LobInputError(
            f"likelihood must be one of {', '.join(LIKELIHOODS)}, or an object such as "
            f"Gaussian(1.0), got {given!r}"
        )
    if fault := given.fault(*cells):
        raise LobInputError(fault)
    if not given.exact and len(set((cells[1] / cells[0]).tolist())) == 1:
        raise LobInputError(
            f"all rewards are equal, on average {float((cells[1] / cells[0])[0]):.4g}; there is "
            "nothing to learn"
        )
    return given, "given" if isinstance(given, Gaussian) else "none"


def _noise(table: RewardTable) -> tuple[float, str]:
    """Return sigma, or where EM starts to look for it, and where it comes from."""
    repeats = int(np.maximum(table.counts - 1, 0).sum())
    within = table.noise()
    if repeats >= REPEATS and within > 0:
        return within, "cells"
    spread = float(table.means[table.counts > 0].std())
    if not spread > 0:
        raise LobInputError("all rewards are equal; there is nothing to learn")
    return spread, "model"


def _by_arm(table: RewardTable, sigma: float) -> float | FloatArray:
    """Return each arm's sigma if that foretells squares within held-out users' cells clearly.

    The squares of a cell of n rewards are sigma_a^2 chi^2 of n - 1; an arm's variance is that of
    its cells and of `SHRUNK` more as on average. Clearly is by three standard errors over users.
    """
    more = np.maximum(table.counts - 1.0, 0.0)
    within = np.maximum(table.squares - table.sums**2 / np.maximum(table.counts, 1e-300), 0.0)
    within = np.where(more > 0, within, 0.0)
    gains = np.empty(table.n_users)
    for fold in range(2):
        out = np.arange(table.n_users) % 2 == fold
        known, one = _variances(more[~out], within[~out], sigma), sigma**2
        gains[out] = 0.5 * (
            more[out] * np.log(one / known) + within[out] * (1.0 / one - 1.0 / known)
        ).sum(axis=1)
    if gains.mean() <= CLEAR * gains.std() / np.sqrt(len(gains)):
        return sigma
    return np.sqrt(_variances(more, within, sigma))


def _variances(more: FloatArray, within: FloatArray, sigma: float) -> FloatArray:
    variances: FloatArray = (within.sum(axis=0) + SHRUNK * sigma**2) / (more.sum(axis=0) + SHRUNK)
    return variances


def _data(table: RewardTable, users: IntArray, source: str) -> Data:
    """Return what EM needs of some users; of squares within cells if it is to find sigma."""
    counts, sums = table.counts[users], table.sums[users]
    if source != "model":
        return Data(counts, sums, None)
    within = table.squares[users] - sums * sums / np.where(counts > 0, counts, 1)
    return Data(counts, sums, (float(np.maximum(within, 0.0).sum()), float(counts.sum())))


def _check_room(table: RewardTable, n_states: int | None) -> None:
    """Refuse, before it is taken, what needs more memory than there is."""
    users, m = min(table.n_users, MANY), n_states or 1
    check_memory(
        8.0 * NUMBERS * (min(users, SOME) * table.n_arms + table.n_arms * (m + 16)),
        f"learning from {users:,} users and {table.n_arms:,} arms",
        "drop rare arms (min_arm_rewards)",
    )


@contextmanager
def _mapped(workers: int | None, executor: Executor | None) -> Iterator[Map]:
    """Give what runs a function on all blocks: an executor's map, or that of threads."""
    if executor is not None:
        yield executor.map
        return
    n = (cpu_count() or 1) if workers is None else whole("workers", workers)
    if n == 1:
        yield map
        return
    with ThreadPoolExecutor(n) as pool:
        yield pool.map


def _labels(table: RewardTable, prior: Prior, features: UserFeatures | None, run: Map) -> IntArray:
    """Return the likeliest state of each user."""
    if prior.n_states == 1:
        return np.zeros(table.n_users, np.int64)
    parts = [slice(first, first + LABELLED) for first in range(0, table.n_users, LABELLED)]
    labels = run(
        _likeliest,
        [prior] * len(parts),
        [table.counts[some] for some in parts],
        [table.sums[some] for some in parts],
        [None if features is None else prior.lifts(features.x[some]) for some in parts],
    )
    return np.concatenate(list(labels))


def _likeliest(
    prior: Prior, counts: FloatArray, sums: FloatArray, lifts: FloatArray | None
) -> IntArray:
    shares = prior.shares_of(counts.astype(np.float64), sums, lifts)[0]
    likeliest: IntArray = shares.argmax(axis=1)
    return likeliest
