"""The working memory of a projection, one table for each thing that is numbered."""

from typing import Any, NamedTuple

import numpy as np
from numba import config
from numpy.typing import NDArray

from lobandits.basics.checks import FloatArray, IntArray

Records = np.recarray[Any, Any]

# A block is a set of arms that share one value.
BLOCK = np.dtype(
    [
        ("total", np.float64),  # the sum of w y, on chains
        ("weight", np.float64),  # the sum of w
        ("value", np.float64),
        ("start", np.uint64),  # where its uppermost arm stands in the sequence, on chains
        ("head", np.int64),  # its uppermost arm
        ("tree", np.int64),  # the root of its chain or tree
        ("taken", np.bool_),  # the root of its tree has absorbed it
    ],
    align=True,
)

# A chain or tree.
TREE = np.dtype(
    [
        ("root", np.int64),  # its maximal arm
        ("loss_below", np.float64),  # the loss of its arms without the root
        ("loss", np.float64),  # the loss of all its arms
    ],
    align=True,
)

# An arm; in a forest also the block that it heads.
ARM = np.dtype(
    [
        ("tree", np.int64),  # the number of its tree
        ("upper", np.int64),  # the arm that the block it heads hangs from: -1, GONE or KEPT
        ("value", np.float64),  # of that block
        ("weight", np.float64),
        ("taken", np.bool_),
        ("block", np.int64),  # the number of that block, -1 if it heads none
        ("fit", np.float64),  # the value of the block that the arm is in
        ("low", np.float64),  # the highest fit below it
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

    blocks: Records  # (k + 1) of BLOCK
    heads: NDArray[np.uint64]  # (k,): 1 where a lower block of a total order starts, else 0
    ranked: IntArray  # (k,): the numbers of the blocks, by falling value
    trees: Records  # (k,) of TREE
    arms: Records  # (k,) of ARM
    members: Records  # (k,) of MEMBER
    segments: Records  # (k + 1) of SEGMENT: a stack of those still to split
    queue: IntArray  # (k,): places that a search has reached and not yet left
    flow: FloatArray  # (k, k): what the excess of a place has cancelled at another


def make_scratch(k: int) -> Scratch:
    """Allocate the working memory of `fit_one` for ``k`` arms."""
    return Scratch(
        blocks=_records(k + 1, BLOCK),
        heads=np.empty(k, np.uint64),
        ranked=np.empty(k, np.int64),
        trees=_records(k, TREE),
        arms=_records(k, ARM),
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
