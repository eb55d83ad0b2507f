"""Contexts that arrive: in each round every user is in one, and chooses among its arms."""

from collections.abc import Iterator, Sequence

import numpy as np

from lobandits.basics.checks import BoolArray
from lobandits.errors import LobInputError
from lobandits.orders.contexts import contexts_of
from lobandits.simulation.streams import Noise, Stream

ARRIVALS = ("random", "in turn")


def context_sets(arms: Sequence[str]) -> BoolArray:
    """Return which arms each context has, (n_contexts, n_arms); every arm must be in one."""
    inside = contexts_of(arms)
    sets = np.zeros((len(inside), len(arms)), np.bool_)
    for row, numbers in zip(sets, inside.values(), strict=True):
        row[numbers] = True
    if not sets.any(axis=0).all():
        raise LobInputError("contexts arrive, so every arm must be named 'context: arm'")
    return sets


class Arrivals:
    """The choice sets of consecutive rounds, for ``n`` users from a block's ``first`` on.

    In turn, all users are in context t modulo the number of contexts; at random, each is in any.
    """

    def __init__(self, kind: str, sets: BoolArray, seed: int, first: int, n: int) -> None:
        self._kind, self._sets, self._now = kind, sets, 0
        self._noise = Noise(np.random.Generator.random, seed, Stream.CONTEXTS, first, n)

    def rounds(self, n_rounds: int) -> Iterator[BoolArray]:
        """Yield who may play which arms, (1 or n, n_arms), for each of the next rounds."""
        count = len(self._sets)
        if self._kind == "random":
            for numbers in self._noise.rounds(n_rounds):
                yield self._sets[(count * numbers).astype(np.int64)]
            return
        for _ in range(n_rounds):
            now = self._now % count
            yield self._sets[now : now + 1]
            self._now += 1
