"""Isotonic regression on any order, by splitting at minimum cuts."""

from lobandits._checks import BoolArray, FloatArray
from lobandits._jit import lean
from lobandits.projection.pooling import Scratch


@lean
def split_dag(
    values: FloatArray,
    weights: FloatArray,
    above: BoolArray,
    top: int,
    fit: FloatArray,
    s: Scratch,
    flow: FloatArray,
) -> float:
    """Project on any order; write the values of the weighted arms, return the loss.

    Invariant: every segment on the stack is a union of the solution's blocks, above others as its
    mean is. One minimum cut per block and per split.
    """
    n = 0
    for arm in range(values.shape[0]):
        if weights[arm] > 0.0:
            s[n].member = arm
            n += 1
    s[0].start = 0
    s[0].stop = n
    depth = 1 if n > 0 else 0
    loss = 0.0
    while depth > 0:
        depth -= 1
        lo = s[depth].start
        hi = s[depth].stop
        origin, mean = centre(values, weights, lo, hi, s)
        size = 0
        if hi - lo > 1:
            size = upper_set(weights, above, top, lo, hi, mean, s, flow)
        if size > 0:
            s[depth].start = lo
            s[depth].stop = lo + size
            s[depth + 1].start = lo + size
            s[depth + 1].stop = hi
            depth += 2
            continue
        for i in range(lo, hi):
            arm = s[i].member
            fit[arm] = origin + mean
            loss += weights[arm] * (s[arm].offset - mean) ** 2
    return loss


@lean
def centre(
    values: FloatArray, weights: FloatArray, lo: int, hi: int, s: Scratch
) -> tuple[float, float]:
    """Write a segment's offsets from its heaviest arm's value; return that, and their mean.

    So no large numbers that cancel are added.
    """
    heaviest = s[lo].member
    for i in range(lo + 1, hi):
        if weights[s[i].member] > weights[heaviest]:
            heaviest = s[i].member
    origin = values[heaviest]
    total = mass = 0.0
    for i in range(lo, hi):
        arm = s[i].member
        s[arm].offset = values[arm] - origin
        total += weights[arm] * s[arm].offset
        mass += weights[arm]
    return origin, total / mass


@lean
def upper_set(
    weights: FloatArray,
    above: BoolArray,
    top: int,
    lo: int,
    hi: int,
    mean: float,
    s: Scratch,
    flow: FloatArray,
) -> int:
    """Find the upper set of a segment with the largest sum of w (y - mean): a minimum cut.

    Values y are offsets. Each excess w (y - mean) > 0 is cancelled with deficits of arms above
    it; what the excess left over can reach is the set. It moves to the front of the segment;
    returned is its size, 0 if the segment must stay whole.
    """
    n = hi - lo
    for i in range(n):
        arm = s[lo + i].member
        excess = weights[arm] * (s[arm].offset - mean)
        s[i].excess = excess
        s[i].sign = 1 if excess > 0.0 else (-1 if excess < 0.0 else 0)
        for j in range(n):
            flow[i, j] = 0.0
    for i in range(n):
        arm = s[lo + i].member
        j = 0
        while j < n and s[i].sign > 0 and s[i].excess > 0.0:
            upper = s[lo + j].member
            if s[j].excess < 0.0 and (above[upper, arm] or upper == top):
                move = min(s[i].excess, -s[j].excess)
                flow[i, j] = move
                s[i].excess -= move
                s[j].excess += move
            j += 1
    while augment(above, top, lo, n, s, flow):
        pass
    return regroup(weights, above, top, lo, n, s)


@lean
def augment(above: BoolArray, top: int, lo: int, n: int, s: Scratch, flow: FloatArray) -> bool:
    """Search breadth first from the excess left over; cancel along the first path to a deficit."""
    tail = 0
    for i in range(n):
        s[i].source = -1
        if s[i].sign > 0 and s[i].excess > 0.0:
            s[i].source = i
            s[tail].queue = i
            tail += 1
    at = 0
    while at < tail:
        i = s[at].queue
        at += 1
        arm = s[lo + i].member
        for j in range(n):
            if s[j].source >= 0 or s[j].sign != -s[i].sign:
                continue
            upper = s[lo + j].member
            if (flow[j, i] > 0.0) if s[i].sign < 0 else (above[upper, arm] or upper == top):
                s[j].source = i
                s[tail].queue = j
                tail += 1
                if s[j].excess < 0.0:
                    cancel(j, s, flow)
                    return True
    return False


@lean
def cancel(end: int, s: Scratch, flow: FloatArray) -> None:
    """Cancel as much as fits along the path found, which ends in the deficit ``end``."""
    move = -s[end].excess
    i = s[end].source
    while s[i].source != i:
        j = s[i].source
        move = min(move, flow[i, j])
        i = s[j].source
    move = min(move, s[i].excess)
    s[i].excess -= move
    s[end].excess += move
    i = s[end].source
    flow[i, end] += move
    while s[i].source != i:
        j = s[i].source
        flow[i, j] -= move
        i = s[j].source
        flow[i, j] += move


@lean
def regroup(weights: FloatArray, above: BoolArray, top: int, lo: int, n: int, s: Scratch) -> int:
    """Move the reached members, and all above them, to the front; return how many.

    0 unless that parts the means: rounding in the flow does no harm.
    """
    size = 0
    upper_sum = upper_mass = lower_sum = lower_mass = 0.0
    for i in range(n):
        arm = s[lo + i].member
        reached = s[i].source >= 0
        j = 0
        while j < n and not reached:
            reached = s[j].source >= 0 and (above[arm, s[lo + j].member] or arm == top)
            j += 1
        s[i].sign = reached
        if reached:
            size += 1
            upper_sum += weights[arm] * s[arm].offset
            upper_mass += weights[arm]
        else:
            lower_sum += weights[arm] * s[arm].offset
            lower_mass += weights[arm]
    if size == 0 or size == n or upper_sum / upper_mass <= lower_sum / lower_mass:
        return 0
    front = 0
    back = size
    for i in range(n):
        if s[i].sign:
            s[front].spare = s[lo + i].member
            front += 1
        else:
            s[back].spare = s[lo + i].member
            back += 1
    for i in range(n):
        s[lo + i].member = s[i].spare
    return size
