"""The number of states that foretells held-out users best, and whether users differ at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lobandits.basics.checks import FloatArray, shaped_array, whole
from lobandits.beliefs.gaussian import Gaussian
from lobandits.beliefs.likelihood import Likelihood
from lobandits.errors import LobInputError
from lobandits.learning.em import Map, Parameters
from lobandits.learning.starts import Data, fit_states, population, prior_of

ALIKE = "alike"
CLEAR = 3.0  # standard errors by which states must beat one state, and this users who are alike
FIELDS = ("n_states", "evidence", "gain", "error", "chosen")
FOLDS, STEPS = 3, 15
NO_SPREAD = 1e-6  # of what users differ by: nothing, but variances stay positive
SHIFTS, SCALES = (0.0, 0.5, 0.75, 1.0, 1.4), (0.0, 0.2, 0.4, 0.8)  # of users who are alike
GRID = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48)
PER_STATE = 8  # users that a state needs to be thought of
SHARE, LEAST = 0.05, 0.03  # of what states gain, and of a nat per user: too little for more states
TOO_FEW = 10  # users, to be sure of anything
EARLY = 4  # so many states are thought of, even where fewer gain nothing


@dataclass(frozen=True, eq=False)
class EvidenceCurve:
    """Evidence of held-out users by the number of states.

    Attributes
    ----------
    n_states : tuple of int
        0 for users who are all alike: of one order, with shifts and scales of their own.
    evidence : (len(n_states),)
        Log evidence of a held-out user, on average.
    gain, error : (len(n_states),)
        By how much it exceeds that of one state, and the standard error of this over users.
    chosen : int
        One, unless the best beats it, and users who are alike, by three standard errors. Then
        the fewest states whose evidence is within a standard error of the best, or so near that
        the rest hardly matters: 5 % of what the best gains over one state, or 0.03 nats.

    Examples
    --------
    >>> gain, error = np.array([-1.5, 0.0, 2.5]), np.array([0.2, 0.0, 0.2])
    >>> curve = EvidenceCurve((0, 1, 2), np.array([-11.0, -9.5, -7.0]), gain, error, chosen=2)
    >>> print(curve)
    states  evidence  over one state
     alike   -11.000  -1.500 +- 0.200
         1    -9.500  +0.000 +- 0.000
         2    -7.000  +2.500 +- 0.200  chosen
    >>> print(curve.verdict)
    Structure worth using: 2 states beat one on held-out users by +2.5 +- 0.2 nats per user.
    """

    n_states: tuple[int, ...]
    evidence: FloatArray
    gain: FloatArray
    error: FloatArray
    chosen: int

    @property
    def users_differ(self) -> bool:
        """Whether held-out users differ by more than noise in what they like best."""
        if self.chosen > 1 or 0 not in self.n_states:
            return self.chosen > 1
        alike = self.n_states.index(0)
        return bool(-self.gain[alike] > CLEAR * self.error[alike])

    @property
    def verdict(self) -> str:
        """One sentence on whether there is structure worth using."""
        if self.chosen > 1:
            return (
                f"Structure worth using: {self.chosen} states beat one on held-out users by "
                f"{self._by(self.chosen)} nats per user."
            )
        if 0 not in self.n_states:
            return "One state: users differ around one mean; no types of users were found."
        if self.users_differ:
            return (
                "Structure worth using: users differ, but no types of users were found; one state "
                "beats users who are all alike by "
                f"{self._by(0, sign=-1)} nats per held-out user."
            )
        return (
            "No structure worth using: users differ by no more than noise "
            f"({self._by(0, sign=-1)} nats per held-out user over users who are all alike), so no "
            "types of users were found; the most popular arm serves all."
        )

    def _by(self, n_states: int, sign: int = 1) -> str:
        at = self.n_states.index(n_states)
        return f"{sign * self.gain[at] + 0.0:+.3g} +- {self.error[at]:.2g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain data, for JSON."""
        return {name: np.asarray(getattr(self, name)).tolist() for name in FIELDS}

    @classmethod
    def from_dict(cls, data: Any, source: str = "curve") -> "EvidenceCurve":
        """Return the curve that `to_dict` described; errors open with ``source``."""
        if not isinstance(data, dict) or set(data) != set(FIELDS):
            raise LobInputError(f"{source}: expected an object with the fields {', '.join(FIELDS)}")
        numbers = data["n_states"] if isinstance(data["n_states"], list) else []
        tried = tuple(whole(f"{source}: n_states", m, least=0) for m in numbers)
        if data["chosen"] not in tried:
            raise LobInputError(f"{source}: chosen is {data['chosen']!r}; expected one of {tried}")
        shape = (len(tried),)
        lines = {
            name: shaped_array(f"{source}: {name}", data[name], shape)
            for name in ("evidence", "gain", "error")
        }
        return cls(n_states=tried, chosen=int(data["chosen"]), **lines)

    def __str__(self) -> str:
        lines = ["states  evidence  over one state"]
        for m, value, gain, error in zip(
            self.n_states, self.evidence, self.gain, self.error, strict=True
        ):
            mark = "  chosen" if m == self.chosen else ""
            lines.append(f"{m or ALIKE:>6}  {value:8.3f}  {gain:+.3f} +- {error:.3f}{mark}")
        return "\n".join(lines)


def evidence_curve(
    data: Data,
    likelihood: Likelihood,
    rng: np.random.Generator,
    grid: Sequence[int] = GRID,
    sigma_known: bool = True,
    run: Map = map,
) -> EvidenceCurve:
    """Return the evidence of users held out in turn, by the number of states.

    First where all users are alike; if sigma is not known, what they differ by may be noise. The
    grid ends where evidence has clearly fallen twice, or has hardly risen twice, or states would
    have too few users.
    """
    n = len(data.counts)
    fold = rng.permutation(n) % FOLDS
    rest = [data.take(fold != f) for f in range(FOLDS)]
    out = [data.take(fold == f) for f in range(FOLDS)]
    everybody = [population(part, likelihood, run) for part in rest]
    tried, by_user = [0], [np.empty(n)]
    for f, part in enumerate(rest):
        alike = all_alike(part, everybody[f].one, sigma_known)
        by_user[0][fold == f] = log_evidence(out[f], alike)
    falls = rests = 0
    for m in grid:
        if m > 1 and (m * PER_STATE > n or (m > EARLY and (falls >= 2 or rests >= 2))):
            break
        values = np.empty(n)
        for f, part in enumerate(rest):
            p, _ = fit_states(part, everybody[f], m, rng, 1, STEPS, run)
            values[fold == f] = log_evidence(out[f], p)
        before = values if m == 1 else _best(by_user)
        tried.append(m)
        by_user.append(values)
        falls = falls + 1 if _behind(values, _best(by_user)) else 0
        rests = rests + 1 if _close(before, by_user) else 0
    return _curve(tried, by_user)


def log_evidence(data: Data, p: Parameters) -> FloatArray:
    """Return the log evidence of each user's rewards, (n,)."""
    return prior_of(p).log_evidence(data.counts.astype(np.float64), data.sums, data.lifts)


def all_alike(data: Data, one: Parameters, sigma_known: bool = True) -> Parameters:
    """Return the one state whose users differ in shift and scale only: all have its order.

    Both are those of a grid with the most evidence; so is sigma, if it is not known: what users of
    one state seem to differ by may as well be noise.
    """
    k = len(one.own)
    shift = float(np.sqrt((one.loadings**2).sum() / k))
    spread = float(one.own.mean() + (one.loadings[:, 1:] ** 2).sum() / k)
    noises = [one.likelihood]
    if isinstance(one.likelihood, Gaussian) and not sigma_known:
        noises.append(Gaussian(np.sqrt(np.square(one.likelihood.sigma) + spread)))
    options = [
        one._replace(
            loadings=np.full((k, 1), a * shift),
            own=np.full(k, NO_SPREAD * spread),
            scales=np.full(1, b),
            likelihood=noise,
        )
        for noise in noises
        for a in SHIFTS
        for b in SCALES
    ]
    return max(options, key=lambda p: log_evidence(data, p).sum())


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
