r"""Has a user changed? Recent rewards against those of all time.

If an arm's mean is the same all the time, then its faded mean less its mean of all N rewards has
the variance :math:`\sigma^2 (\sum g^2 / (\sum g)^2 - 1 / N)`, exactly. A user has changed if the
square of that difference, of some arm, is more than `DOUBT` times its variance. That is a pure
function of sums, whatever the order in which these were made.
"""

from typing import NamedTuple

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import kernel, lean
from lobandits.policies.faded_sums import Sums

DOUBT = 16.0  # variances: by chance one look in 16,000 finds more
EVEN = 1e-9  # of 1 / N: so little variance means that all rewards weigh the same
ROUNDING = 1e-12  # of the means


class Verdict(NamedTuple):
    """Whether users have changed: the doubt of some arm is above the user's limit."""

    doubts: FloatArray  # (n_users, n_arms): squared differences / their variance at sigma 1
    changed: BoolArray  # (n_users,)
    limit: FloatArray  # (n_users,): below 0, everybody counts as changed


@lean
def doubt(k: Sums, u: int, a: int) -> float:
    """Return the squared difference of an arm's faded mean and its mean, over its variance.

    With weights w, weighted sum v, squares q, and n rewards of sum s it is
    (v n - s w)^2 / (n (q n - w^2)): one division, where the means themselves would take five.
    """
    n, w = k.counts[u, a], k.weights[u, a]
    recent, ever = k.weighted[u, a] * n, k.sums[u, a] * w
    gap, spread = abs(recent - ever), k.squares[u, a] * n - w * w
    if spread <= EVEN * w * w or gap <= ROUNDING * (abs(recent) + abs(ever)):
        return 0.0
    return float(gap * gap / (n * spread))


@lean
def has_changed(v: Verdict, u: int) -> bool:
    """Tell whether the doubt of some arm is above the limit."""
    largest = 0.0
    for a in range(v.doubts.shape[1]):
        largest = max(largest, v.doubts[u, a])
    return bool(largest > v.limit[u])


@kernel
def judge(kept: Sums, verdict: Verdict, users: IntArray) -> None:
    """Judge anew whether users have changed."""
    for u in users:
        for a in range(kept.counts.shape[1]):
            verdict.doubts[u, a] = doubt(kept, u, a)
        verdict.changed[u] = has_changed(verdict, u)
