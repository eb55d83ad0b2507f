r"""Feasible states: those whose order some means in a box of confidence bounds keep.

.. math:: S = \{s : H_s \cap \prod_a [L_a, U_a] \neq \emptyset\},

which holds unless s puts some arm a above some b, directly or not, with :math:`L_b > U_a`.
"""

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.basics.kernel import kernel
from lobandits.orders import DAG, OrderTables


@kernel
def mark_feasible(
    low: FloatArray, up: FloatArray, t: OrderTables, due: BoolArray, out: BoolArray
) -> None:
    """Mark the feasible states of users who are ``due``, (n, m). O(m k), for a DAG O(m k^2).

    While no arm's lower bound is above another's upper one, every state is feasible. Invariant:
    along a chain, best arm first, ``least`` is the lowest upper bound so far.
    """
    k = low.shape[1]
    for u in range(len(low)):
        if not due[u]:
            continue
        row, apart = u if len(t.kind) > 1 else 0, low[u].max() > up[u].min()
        for s in range(t.kind.shape[1]):
            out[u, s] = True
            if apart and t.kind[row, s] == DAG:
                for a in range(k):
                    for b in range(k):
                        out[u, s] &= not (t.above[row, s, a, b] and low[u, b] > up[u, a])
            elif apart:
                least = np.inf
                for j in range(k):
                    arm = t.sequence[row, s, j]
                    least = least if t.linked[row, s, j] else np.inf
                    if low[u, arm] > least:
                        out[u, s] = False
                        break
                    least = min(least, up[u, arm])
