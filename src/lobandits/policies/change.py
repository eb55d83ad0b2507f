r"""Has a user changed? Recent rewards against those of all time.

If an arm's mean is the same all the time, then its faded mean less its mean of all N rewards has
the variance :math:`\sigma^2 (\sum g^2 / (\sum g)^2 - 1 / N)`, exactly. A user has changed if the
square of that difference, of some arm, is more than `TRUST` times its variance. That is a pure
function of sums, whatever the order in which these were made.
"""

from lobandits.basics.checks import FloatArray
from lobandits.basics.kernel import lean
from lobandits.policies.faded_sums import COUNT, DOUBT, SQUARES, SUM, WEIGHT, WEIGHTED

TRUST = 16.0  # variances: by chance one look in 16,000 finds more
EVEN = 1e-9  # of 1 / N: so little variance means that all rewards weigh the same
ROUNDING = 1e-12  # of the means


@lean
def doubt(cell: FloatArray) -> float:
    """Return the squared difference of an arm's faded mean and its mean, over its variance.

    The variance is that at sigma 1. With weights w, weighted sum v, squares q, and n rewards of
    sum s it is (v n - s w)^2 / (n (q n - w^2)): one division, where the means would take five.
    """
    n, w = cell[COUNT], cell[WEIGHT]
    recent, ever = cell[WEIGHTED] * n, cell[SUM] * w
    gap, spread = abs(recent - ever), cell[SQUARES] * n - w * w
    if spread <= EVEN * w * w or gap <= ROUNDING * (abs(recent) + abs(ever)):
        return 0.0
    return float(gap * gap / (n * spread))


@lean
def has_changed(cells: FloatArray, limit: float) -> bool:
    """Tell whether the doubt of some arm of a user is above the limit."""
    largest = 0.0
    for a in range(cells.shape[0]):
        largest = max(largest, cells[a, DOUBT])
    return largest > limit


@lean
def judge(cells: FloatArray, limit: float) -> bool:
    """Doubt every arm of a user anew, and tell whether it has changed."""
    for a in range(cells.shape[0]):
        cells[a, DOUBT] = doubt(cells[a])
    return has_changed(cells, limit)
