"""Random numbers: every one is a function of (seed, stream, user, round).

Users live in blocks of eight. A block has one generator for each stream, and draws from it round
after round, so that no number depends on how users are shared among workers.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 8


class Stream(IntEnum):
    """What a generator is for."""

    PROBLEMS = 0
    REWARDS = 1
    CHOICES = 2
    STATES = 3  # that all users share
    PAST_USERS = 4
    PAST_REWARDS = 5
    CONTEXTS = 6
    CHANGES = 7


def block_generator(seed: int, stream: Stream, block: int) -> np.random.Generator:
    """Return the generator of one block of users for one stream."""
    sequence = np.random.SeedSequence(seed, spawn_key=(int(stream), block))
    return np.random.Generator(np.random.SFC64(sequence))


def blocks_of(first: int, n: int) -> range:
    """Return the blocks in which users ``first`` to ``first + n - 1`` live."""
    return range(first // BLOCK, -(-(first + n) // BLOCK))


class Noise:
    """The numbers of consecutive rounds, for ``n`` users from a block's ``first`` on."""

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
        """Return the next rounds' numbers (n_rounds, n, ...)."""
        shape = n_rounds, BLOCK
        numbers = np.concatenate([self._draw(rng, shape) for rng in self._generators], axis=1)
        if numbers.shape[:2] != (n_rounds, BLOCK * len(self._generators)):
            raise ValueError(f"draw(rng, {shape}) must return an array of that shape")
        return np.ascontiguousarray(numbers[:, : self._n])
