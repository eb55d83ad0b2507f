"""The number of states that foretells held-out users best, and whether users differ at all."""

from collections.abc import Sequence

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.learning.curve import CLEAR, EvidenceCurve
from lobandits.learning.fit import fit_states, population
from lobandits.learning.mixture import log_evidence
from lobandits.learning.starts import all_alike

FOLDS, STEPS = 5, 40
GRID = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48)
PER_STATE = 8  # users that a state needs to be thought of
SHARE, LEAST = 0.05, 0.03  # of what states gain, and of a nat per user: too little for more states
TOO_FEW = 10  # users, to be sure of anything
EARLY = 6  # so many states are thought of, even where fewer gain nothing


def evidence_curve(
    counts: IntArray,
    sums: FloatArray,
    sigma: float,
    rng: np.random.Generator,
    grid: Sequence[int] = GRID,
    sigma_known: bool = True,
) -> EvidenceCurve:
    """Return the evidence of users held out in turn, by the number of states.

    First where all users are alike; if sigma is not known, what they differ by may be noise. The
    grid ends where evidence has clearly fallen twice, or has hardly risen twice, or states would
    have too few users.
    """
    n = len(counts)
    fold = rng.permutation(n) % FOLDS
    rest = [(counts[fold != f], sums[fold != f]) for f in range(FOLDS)]
    everybody = [population(*part, sigma) for part in rest]
    tried, by_user = [0], [np.empty(n)]
    for f, part in enumerate(rest):
        out, alike = fold == f, all_alike(*part, everybody[f].one, sigma_known)
        by_user[0][out] = log_evidence(counts[out], sums[out], alike)
    falls = rests = 0
    for m in grid:
        if m > 1 and (m * PER_STATE > n or (m > EARLY and (falls >= 2 or rests >= 2))):
            break
        values = np.empty(n)
        for f, part in enumerate(rest):
            out, p = fold == f, fit_states(*part, everybody[f], m, rng, 1, STEPS)
            values[out] = log_evidence(counts[out], sums[out], p)
        before = values if m == 1 else _best(by_user)
        tried.append(m)
        by_user.append(values)
        falls = falls + 1 if _behind(values, _best(by_user)) else 0
        rests = rests + 1 if _close(before, by_user) else 0
    return _curve(tried, by_user)


def _best(by_user: list[FloatArray]) -> FloatArray:
    """Return the users' evidence under the best number of states."""
    return max(by_user[1:], key=np.mean)


def _behind(values: FloatArray, best: FloatArray, errors: float = 1.0) -> bool:
    """Tell whether users' evidence is below the best by more than some standard errors."""
    gap = best - values
    return bool(gap.mean() > errors * gap.std() / np.sqrt(len(gap)))


def _close(values: FloatArray, by_user: list[FloatArray]) -> bool:
    """Tell whether users' evidence is the best's but for chance, or for too little to matter."""
    best, one = _best(by_user), by_user[1]
    little = max(SHARE * float((best - one).mean()), LEAST)
    return not _behind(values, best) or float((best - values).mean()) <= little


def _curve(tried: list[int], by_user: list[FloatArray]) -> EvidenceCurve:
    one, chosen = by_user[1], 1
    if all(_behind(values, _best(by_user), CLEAR) for values in by_user[:2]):
        states = list(zip(tried, by_user, strict=True))[2:]
        chosen = next(m for m, values in states if _close(values, by_user))
    gains = np.array([values - one for values in by_user])
    gain, error = gains.mean(axis=1), gains.std(axis=1) / np.sqrt(gains.shape[1])
    if gains.shape[1] < TOO_FEW:  # who may agree by chance
        error = np.maximum(error, abs(gain))
    evidence = np.array([values.mean() for values in by_user])
    return EvidenceCurve(tuple(tried), evidence, gain, error, chosen)
