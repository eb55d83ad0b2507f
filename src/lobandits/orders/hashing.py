"""A number by which orders are known: the same on every machine, in every version."""

import numpy as np

from lobandits.basics.checks import IntArray
from lobandits.basics.kernel import lean
from lobandits.orders.tables import DAG, OrderTables

FNV = 0x100000001B3


@lean
def hash_orders(tables: OrderTables, seed: int, out: IntArray) -> None:
    """Write a hash (FNV-1a) of ``seed`` and each user's orders; the same on every machine."""
    n, m, k = tables.sequence.shape
    for u in range(n):
        key = np.int64(seed)
        for s in range(m):
            key = (key ^ tables.kind[u, s]) * FNV
            for j in range(k):
                key = (key ^ np.int64(tables.sequence[u, s, j])) * FNV
                key = (key ^ tables.parent[u, s, j]) * FNV
                if tables.kind[u, s] == DAG:
                    for b in range(k):
                        key = (key ^ tables.above[u, s, j, b]) * FNV
        out[u] = key
