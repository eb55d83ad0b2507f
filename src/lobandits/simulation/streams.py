"""Random streams: every number of a run is a function of (seed, stream, user, round).

Users come in blocks of eight. A block has one generator per stream, and draws its rounds one
after the other, so a user's numbers do not depend on how many other users or rounds there are,
nor on how users are cut into chunks and rounds into batches.
"""

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 8


class Stream(IntEnum):
    """What a generator is for; streams of one seed are independent."""

    PROBLEMS = 0
    REWARDS = 1
    CHOICES = 2


def block_generator(seed: int, stream: Stream, block: int) -> np.random.Generator:
    """Return the generator of one block of users for one stream."""
    sequence = np.random.SeedSequence(seed, spawn_key=(int(stream), block))
    return np.random.Generator(np.random.SFC64(sequence))


def blocks_of(first: int, n: int) -> range:
    """Return the blocks in which users ``first`` to ``first + n - 1`` live."""
    return range(first // BLOCK, -(-(first + n) // BLOCK))


class Noise:
    """The numbers of consecutive rounds, for the users ``first`` to ``first + n - 1``.

    ``first`` begins a block. ``draw(rng, shape)`` returns an array whose leading axes are
    ``shape``, filled in row-major order, like :meth:`lobandits.policies.Policy.draw`.
    """

    def __init__(
        self,
        draw: Callable[[np.random.Generator, tuple[int, ...]], NDArray[Any]],
        seed: int,
        stream: Stream,
        first: int,
        n: int,
    ) -> None:
        self._draw = draw
        self._n = n
        self._generators = [block_generator(seed, stream, b) for b in blocks_of(first, n)]

    def rounds(self, n_rounds: int) -> NDArray[Any]:
        """Return the next rounds' numbers, of shape (n_rounds, n, ...)."""
        parts: Iterator[NDArray[Any]] = (
            self._draw(rng, (n_rounds, BLOCK)) for rng in self._generators
        )
        numbers = np.concatenate(list(parts), axis=1)
        if numbers.shape[:2] != (n_rounds, BLOCK * len(self._generators)):
            raise ValueError(f"draw(rng, {(n_rounds, BLOCK)}) must return an array of that shape")
        return np.ascontiguousarray(numbers[:, : self._n])


def standard_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[Any]:
    """Draw the standard normal numbers behind rewards."""
    return rng.standard_normal(shape)
