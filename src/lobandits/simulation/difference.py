"""How much more regret one policy has than another, paired by user."""

from dataclasses import dataclass

import numpy as np

from lobandits._checks import FloatArray, fraction


@dataclass(frozen=True)
class Difference:
    """The mean over users of one policy's total regret minus another's."""

    policy: str
    other: str
    mean: float
    error: float
    low: float
    high: float
    level: float
    n_users: int

    def __str__(self) -> str:
        return (
            f"{self.policy} - {self.other}: {self.mean:.4g} +- {self.error:.2g}, "
            f"{self.level:.0%} interval {self.low:.4g} to {self.high:.4g} ({self.n_users} users)"
        )


def mean_difference(policy: str, other: str, pairs: FloatArray, level: float) -> Difference:
    """Return the mean of the users' differences, in an interval of Student's."""
    from scipy.special import stdtrit

    level = fraction("level", level)
    n = len(pairs)
    mean = float(pairs.mean())
    error = float(pairs.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    wide = error * float(stdtrit(n - 1, (1 + level) / 2)) if n > 1 else float("nan")
    return Difference(policy, other, mean, error, mean - wide, mean + wide, level, n)
