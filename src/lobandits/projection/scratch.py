"""The working memory of a projection, one table for each thing that is numbered."""

from typing import Any, NamedTuple

import numpy as np
from numba import config

from lobandits.basics.checks import FloatArray, IntArray

Records = np.recarray[Any, Any]

# A block is a set of arms that share one value.
BLOCK = np.dtype(
    [
        ("total", np.float64),  # the sum of w y
        ("weight", np.float64),  # the sum of w
        ("value", np.float64),
        ("start", np.int64),  # where its uppermost arm stands in the sequence
        ("head", np.int64),  # its uppermost arm
        ("chain", np.int64),  # the root of its chain
        ("taken", np.bool_),  # the root of its chain has absorbed it
    ],
    align=True,
)

CHAIN = np.dtype(
    [
        ("root", np.int64),  # its maximal arm
        ("loss_below", np.float64),  # the loss of its arms without the root
        ("loss", np.float64),  # the loss of all its arms
    ],
    align=True,
)

# A place in the list of the arms with weight, in which every segment stands together.
MEMBER = np.dtype(
    [
        ("arm", np.int64),
        ("offset", np.float64),  # its value from its segment's origin
        ("excess", np.float64),  # what is still to cancel
        ("sign", np.int64),  # +1 had an excess, -1 a deficit, 0 neither
        ("source", np.int64),  # the place from which a search came, -1 if not reached
        ("upper", np.bool_),  # the arm is in the upper set
        ("moved", np.int64),  # the arm that will stand here
    ],
    align=True,
)

SEGMENT = np.dtype([("start", np.int64), ("stop", np.int64)])


class Scratch(NamedTuple):
    """Working memory for orders of k arms; nothing in it outlives one projection."""

    totals: FloatArray  # (k,): weights times values
    stack: FloatArray  # (3, k + 1): the blocks of a total order, see `pool_order`
    blocks: Records  # (k + 1) of BLOCK
    ranked: IntArray  # (k,): the numbers of the blocks, by falling value
    chains: Records  # (k,) of CHAIN
    low: FloatArray  # (k,): the highest fit at or below an arm
    members: Records  # (k,) of MEMBER
    segments: Records  # (k + 1) of SEGMENT: a stack of those still to split
    queue: IntArray  # (k,): places that a search has reached and not yet left
    flow: FloatArray  # (k, k): what the excess of a place has cancelled at another


def make_scratch(k: int) -> Scratch:
    """Allocate the working memory of `fit_one` for ``k`` arms."""
    return Scratch(
        totals=np.empty(k),
        stack=np.empty((3, k + 1)),
        blocks=_records(k + 1, BLOCK),
        ranked=np.empty(k, np.int64),
        chains=_records(k, CHAIN),
        low=np.empty(k),
        members=_records(k, MEMBER),
        segments=_records(k + 1, SEGMENT),
        queue=np.empty(k, np.int64),
        flow=np.empty((k, k)),
    )


def _records(n: int, kind: np.dtype[np.void]) -> Records:
    records: Any = np.empty(n, kind)
    if config.DISABLE_JIT:  # Numba reads fields of any record as attributes, Python does not
        records = records.view(np.recarray)
    table: Records = records
    return table
