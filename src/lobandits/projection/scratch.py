"""Working memory of the projection kernels."""

from typing import Any

import numpy as np
from numba import config

from lobandits._checks import FloatArray

# Working memory of one projection: record i holds what concerns block i, tree i, arm i or, in
# a DAG, member i. A block is a set of arms that share one value, headed by its uppermost arm.
# Chains and trees are pooled from below, and the blocks under a root are kept beside the block
# that the root then forms of them, so that any root can still be put on top of all trees.
SCRATCH = np.dtype(
    [
        ("value", np.float64),  # block: its mean
        ("weight", np.float64),  # block: its total weight
        ("total", np.float64),  # block of a chain: the sum of w y
        ("head", np.int64),  # block: its uppermost arm
        ("position", np.int64),  # block of a chain: where its head stands in the sequence
        ("tree", np.int64),  # block: the root of its chain or tree
        ("taken", np.bool_),  # block: the root of its own tree has absorbed it
        ("rank", np.int64),  # blocks by falling value
        ("root", np.int64),  # tree: its maximal arm
        ("loss_below", np.float64),  # tree: the loss of its arms without the root
        ("loss", np.float64),  # tree: the loss of all its arms
        ("upper", np.int64),  # arm that heads a block: what it hangs from; -1, GONE or KEPT
        ("number", np.int64),  # arm: its tree
        ("block", np.int64),  # arm: the block that it heads, -1 if none
        ("carried", np.float64),  # arm: the value of the block it is in
        ("low", np.float64),  # arm: the highest fit below it
        ("offset", np.float64),  # arm: its value from its segment's origin
        ("member", np.int64),  # arms with weight, grouped by segment
        ("spare", np.int64),  # room to regroup a segment
        ("start", np.int64),  # stack of segments still to split
        ("stop", np.int64),
        ("sign", np.int64),  # member: +1 excess, -1 deficit, 0 neither
        ("excess", np.float64),  # member: what is still to cancel
        ("source", np.int64),  # member: where the search came from, -1 not reached
        ("queue", np.int64),
    ],
    align=True,
)
Scratch = np.recarray[Any, Any]


def make_scratch(k: int) -> tuple[Scratch, FloatArray]:
    """Allocate the working memory for ``k`` arms: the records, and the flow of a min cut."""
    records: Any = np.empty(k, SCRATCH)
    if config.DISABLE_JIT:  # Numba reads fields of any record as attributes, Python does not
        records = records.view(np.recarray)
    return records, np.empty((k, k))
