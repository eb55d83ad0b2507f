"""Relations as boolean matrices: ``edges[..., a, b]`` says that arm a stands above arm b.

Every function but `find_cycle` and `paths` works on any number of leading axes (states, users).
"""

import numpy as np

from lobandits._checks import BoolArray


def closure(edges: BoolArray) -> BoolArray:
    """Return the transitive closure: a above b if a path of edges leads from a to b.

    Invariant: after step i, all paths whose inner arms are among the first i are included.
    """
    above = edges.copy()
    for i in range(above.shape[-1]):
        above |= above[..., :, i, None] & above[..., None, i, :]
    return above


def reduction(above: BoolArray) -> BoolArray:
    """Return the edges of a closure that no longer path implies: a directly above b."""
    implied = np.zeros_like(above)
    for i in range(above.shape[-1]):
        implied |= above[..., :, i, None] & above[..., None, i, :]
    direct: BoolArray = above & ~implied
    return direct


def find_cycle(edges: BoolArray) -> list[int] | None:
    """Return the arms of a shortest cycle, the first repeated at the end; None if acyclic."""
    on_cycle = np.flatnonzero(closure(edges).diagonal())
    cycles = [_shortest_cycle_through(edges, int(arm)) for arm in on_cycle]
    return min(cycles, key=len) if cycles else None


def _shortest_cycle_through(edges: BoolArray, start: int) -> list[int]:
    """Breadth-first search from ``start`` until an edge leads back to it."""
    reached_from = {start: start}
    queue = [start]
    for arm in queue:
        if edges[arm, start]:
            break
        for below in np.flatnonzero(edges[arm]).tolist():
            if below not in reached_from:
                reached_from[below] = arm
                queue.append(below)
    cycle = [start]
    while arm != start:
        cycle.append(arm)
        arm = reached_from[arm]
    return [start, *reversed(cycle[1:]), start]


def paths(above: BoolArray) -> list[list[int]]:
    """Return downward paths, best arm first, that use every direct relation exactly once.

    A chain is one path; arms without relations are in none.
    """
    below = [np.flatnonzero(row).tolist() for row in reduction(above)]
    found = []
    for start in np.argsort(above.sum(axis=0), kind="stable").tolist():
        while below[start]:
            path = [start]
            while below[path[-1]]:
                path.append(below[path[-1]].pop(0))
            found.append(path)
    return found
