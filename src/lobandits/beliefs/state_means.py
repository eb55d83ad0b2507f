r"""States with known means: how likely each is, given a user's rewards.

.. math:: P(s) \propto p(s) \exp(-\sum_t (r_t - \mu_{s, a_t})^2 / (2 \sigma^2))
"""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, read_only
from lobandits.basics.kernel import kernel


class StateTables(NamedTuple):
    """Means of states as the kernels read them; u = 1 where all users share them.

    Up to a constant, log P(rewards | s) is ``sum_a (sum r - N c) slope[a, s] - N curve[a, s]``
    with c_a the middle of arm a's means: no large numbers cancel.
    """

    centres: FloatArray  # c_a, (u, k)
    slope: FloatArray  # (mu - c) / sigma^2, (u, k, m): states last, for SIMD
    curve: FloatArray  # (mu - c)^2 / (2 sigma^2), (u, k, m)
    log_shares: FloatArray  # (m,)
    means: FloatArray  # (u, m, k)


def state_tables(means: FloatArray, sigma: float, log_shares: FloatArray) -> StateTables:
    """Return the tables of means (u, m, k)."""
    centres = (means.max(axis=1) + means.min(axis=1)) / 2
    offsets = (means - centres[:, None, :]).transpose(0, 2, 1) / sigma
    slope, curve = read_only(offsets / sigma), read_only(offsets**2 / 2)
    return StateTables(read_only(centres), slope, curve, log_shares, means)


@kernel
def write_log_posteriors(
    counts: FloatArray, sums: FloatArray, states: StateTables, out: FloatArray
) -> None:
    """Write log P(s) of every user, (n, m), up to a constant of the user. O(n m k)."""
    for u in range(len(counts)):
        row = u if len(states.centres) > 1 else 0
        for s in range(out.shape[1]):
            out[u, s] = states.log_shares[s]
        for a in range(counts.shape[1]):
            n = counts[u, a]
            if n > 0:
                excess = sums[u, a] - n * states.centres[row, a]
                for s in range(out.shape[1]):
                    out[u, s] += excess * states.slope[row, a, s] - n * states.curve[row, a, s]


def log_posteriors(counts: FloatArray, sums: FloatArray, states: StateTables) -> FloatArray:
    """Return log P(s) of every user, (n_users, n_states), up to a constant of the user."""
    out = np.empty((len(counts), len(states.log_shares)))
    write_log_posteriors(counts, sums, states, out)
    return out


def best_arms(means: FloatArray, allowed: BoolArray) -> tuple[BoolArray, FloatArray]:
    """Return the best allowed arms of each state, (u, m, k), and their mean, (u, m)."""
    among = np.where(allowed[:, None, :], means, -np.inf)
    top = among.max(axis=2)
    return among == top[:, :, None], top
