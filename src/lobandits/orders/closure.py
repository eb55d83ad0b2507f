"""Relations as boolean matrices: ``edges[..., a, b]`` says that arm a stands above arm b.

All but `find_cycle` and `paths` take any leading axes (users, states).
"""

import numpy as np

from lobandits.basics.checks import BoolArray, read_only


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
    direct: BoolArray = above & ~(above @ above)
    return direct


def none_above(above: BoolArray) -> BoolArray:
    """Return which arms (..., k) have none above them in the closures (..., k, k)."""
    return read_only(~np.logical_or.reduce(above, axis=-2))


def find_cycle(edges: BoolArray) -> list[int] | None:
    """Return the arms of a shortest cycle, the first repeated at the end; None if acyclic."""
    on_cycle = np.flatnonzero(closure(edges).diagonal()).tolist()
    return min((_shortest_cycle_through(edges, arm) for arm in on_cycle), key=len, default=None)


def _shortest_cycle_through(edges: BoolArray, start: int) -> list[int]:
    """Breadth-first search from ``start`` until an edge leads back to it."""
    path_to = {start: [start]}
    queue = [start]
    for arm in queue:
        if edges[arm, start]:
            break
        for below in np.flatnonzero(edges[arm]).tolist():
            if below not in path_to:
                path_to[below] = [*path_to[arm], below]
                queue.append(below)
    return [*path_to[arm], start]


def paths(above: BoolArray) -> list[list[int]]:
    """Return downward paths, best arm first, that use every direct relation exactly once."""
    below = [np.flatnonzero(row).tolist() for row in reduction(above)]
    found = []
    for start in np.argsort(above.sum(axis=0), kind="stable").tolist():
        while below[start]:
            path = [start]
            while below[path[-1]]:
                path.append(below[path[-1]].pop(0))
            found.append(path)
    return found
