"""Isotonic regression on any order, by splitting at minimum cuts.

The arms with weight stand in a list; a segment is a stretch of it. A place of the list is an
index ``i`` from the segment's ``lo`` to ``hi - 1``.
"""

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import kernel
from lobandits.projection.scratch import Records, Scratch


@kernel
def split_dag(
    values: FloatArray,
    weights: FloatArray,
    above: BoolArray,
    top: int,
    fit: FloatArray,
    s: Scratch,
) -> float:
    """Project on the closure ``above`` (k, k), and ``top`` above all unless -1; return the loss.

    Only arms with weight are written to ``fit``. Invariant: every segment on the stack is a
    union of the solution's blocks, above others as its mean is. One minimum cut per block and
    per split, so fewer than 2 k.
    """
    members, segments = s.members, s.segments
    n = 0
    for arm in range(values.shape[0]):
        if weights[arm] > 0.0:
            members[n].arm = arm
            n += 1
    segments[0].start = 0
    segments[0].stop = n
    depth = 1 if n > 0 else 0
    loss = 0.0
    while depth > 0:
        depth -= 1
        lo = segments[depth].start
        hi = segments[depth].stop
        origin, mean = centre(values, weights, lo, hi, members)
        size = 0
        if hi - lo > 1:
            size = upper_set(weights, above, top, lo, hi, mean, members, s.queue, s.flow)
        if size > 0:
            segments[depth].stop = lo + size
            segments[depth + 1].start = lo + size
            segments[depth + 1].stop = hi
            depth += 2
            continue
        for i in range(lo, hi):
            arm = members[i].arm
            fit[arm] = origin + mean
            loss += weights[arm] * (members[i].offset - mean) ** 2
    return loss


@kernel
def centre(
    values: FloatArray, weights: FloatArray, lo: int, hi: int, members: Records
) -> tuple[float, float]:
    """Write a segment's offsets from its heaviest arm's value; return that, and their mean.

    So no large numbers that cancel are added. O(n) for a segment of n.
    """
    heaviest = members[lo].arm
    for i in range(lo + 1, hi):
        if weights[members[i].arm] > weights[heaviest]:
            heaviest = members[i].arm
    origin = values[heaviest]
    total = mass = 0.0
    for i in range(lo, hi):
        arm = members[i].arm
        offset = values[arm] - origin
        members[i].offset = offset
        total += weights[arm] * offset
        mass += weights[arm]
    return origin, total / mass


@kernel
def upper_set(
    weights: FloatArray,
    above: BoolArray,
    top: int,
    lo: int,
    hi: int,
    mean: float,
    members: Records,
    queue: IntArray,
    flow: FloatArray,
) -> int:
    """Find the upper set of a segment with the largest sum of w (y - mean): a minimum cut.

    Values y are offsets. Each excess w (y - mean) > 0 is cancelled with deficits of arms above
    it; what the excess left over can reach is the set. It moves to the front of the segment;
    returned is its size, 0 if the segment must stay whole. O(n^2) and O(n^2) per `augment`.
    """
    for i in range(lo, hi):
        member = members[i]
        excess = weights[member.arm] * (member.offset - mean)
        member.excess = excess
        member.sign = 1 if excess > 0.0 else (-1 if excess < 0.0 else 0)
        for j in range(lo, hi):
            flow[i, j] = 0.0
    cancel_greedily(above, top, lo, hi, members, flow)
    while augment(above, top, lo, hi, members, queue, flow):
        pass
    return regroup(weights, above, top, lo, hi, members)


@kernel
def cancel_greedily(
    above: BoolArray, top: int, lo: int, hi: int, members: Records, flow: FloatArray
) -> None:
    """Cancel each excess with deficits of arms directly related to it, as they come. O(n^2)."""
    for i in range(lo, hi):
        member = members[i]
        j = lo
        while j < hi and member.sign > 0 and member.excess > 0.0:
            other = members[j]
            if other.excess < 0.0 and (above[other.arm, member.arm] or other.arm == top):
                move = min(member.excess, -other.excess)
                flow[i, j] = move
                member.excess -= move
                other.excess += move
            j += 1


@kernel
def augment(
    above: BoolArray,
    top: int,
    lo: int,
    hi: int,
    members: Records,
    queue: IntArray,
    flow: FloatArray,
) -> bool:
    """Search breadth first from the excess left over; cancel along the first path to a deficit.

    Invariant: the queue holds all places reached, in the order of their distance. O(n^2).
    """
    tail = 0
    for i in range(lo, hi):
        members[i].source = -1
        if members[i].sign > 0 and members[i].excess > 0.0:
            members[i].source = i
            queue[tail] = i
            tail += 1
    at = 0
    while at < tail:
        i = queue[at]
        at += 1
        arm, sign = members[i].arm, members[i].sign
        for j in range(lo, hi):
            other = members[j]
            if other.source >= 0 or other.sign != -sign:
                continue
            if (flow[j, i] > 0.0) if sign < 0 else (above[other.arm, arm] or other.arm == top):
                other.source = i
                queue[tail] = j
                tail += 1
                if other.excess < 0.0:
                    cancel(j, members, flow)
                    return True
    return False


@kernel
def cancel(end: int, members: Records, flow: FloatArray) -> None:
    """Cancel as much as fits along the path found, which ends in the deficit ``end``."""
    move = -members[end].excess
    i = members[end].source
    while members[i].source != i:
        j = members[i].source
        move = min(move, flow[i, j])
        i = members[j].source
    move = min(move, members[i].excess)
    members[i].excess -= move
    members[end].excess += move
    i = members[end].source
    flow[i, end] += move
    while members[i].source != i:
        j = members[i].source
        flow[i, j] -= move
        i = members[j].source
        flow[i, j] += move


@kernel
def regroup(
    weights: FloatArray, above: BoolArray, top: int, lo: int, hi: int, members: Records
) -> int:
    """Move the arms reached, and all above them, to the front; return how many. O(n^2).

    0 unless that parts the means: rounding in the flow does no harm.
    """
    size = 0
    upper_sum = upper_mass = lower_sum = lower_mass = 0.0
    for i in range(lo, hi):
        member = members[i]
        member.upper = is_upper(above, top, i, lo, hi, members)
        weight = weights[member.arm]
        if member.upper:
            size += 1
            upper_sum += weight * member.offset
            upper_mass += weight
        else:
            lower_sum += weight * member.offset
            lower_mass += weight
    if size == 0 or size == hi - lo or upper_sum / upper_mass <= lower_sum / lower_mass:
        return 0
    front, back = lo, lo + size
    for i in range(lo, hi):
        if members[i].upper:
            members[front].moved = members[i].arm
            front += 1
        else:
            members[back].moved = members[i].arm
            back += 1
    for i in range(lo, hi):
        members[i].arm = members[i].moved
    return size


@kernel
def is_upper(above: BoolArray, top: int, i: int, lo: int, hi: int, members: Records) -> bool:
    """Tell whether the search has reached the arm at place i, or one below it. O(n)."""
    if members[i].source >= 0:
        return True
    arm = members[i].arm
    for j in range(lo, hi):
        if members[j].source >= 0 and (above[arm, members[j].arm] or arm == top):
            return True
    return False
