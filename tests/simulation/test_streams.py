import numpy as np
import pytest

from lobandits.simulation.streams import BLOCK, Noise, Stream, block_generator, blocks_of


def normals(first: int, n: int, seed: int = 0) -> Noise:
    return Noise(np.random.Generator.standard_normal, seed, Stream.REWARDS, first, n)


def test_blocks_cover_the_users() -> None:
    assert blocks_of(0, 1) == range(1)
    assert blocks_of(0, 8) == range(1)
    assert blocks_of(0, 9) == range(2)
    assert blocks_of(16, 3) == range(2, 3)
    assert blocks_of(7, 2) == range(2)


@pytest.mark.parametrize("batches", [[7], [1] * 7, [3, 4], [5, 1, 1]])
def test_numbers_do_not_depend_on_batches_of_rounds(batches: list[int]) -> None:
    whole = normals(0, 20).rounds(7)
    noise = normals(0, 20)
    parts = np.concatenate([noise.rounds(n) for n in batches])
    assert np.array_equal(parts, whole)


def test_numbers_do_not_depend_on_other_users() -> None:
    everyone = normals(0, 40).rounds(5)
    assert np.array_equal(normals(0, 3).rounds(5), everyone[:, :3])
    assert np.array_equal(normals(16, 24).rounds(5), everyone[:, 16:])


def test_numbers_of_more_axes_keep_their_place() -> None:
    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return rng.random((*shape, 3))

    assert Noise(draw, 1, Stream.CHOICES, 0, 12).rounds(4).shape == (4, 12, 3)


def test_rounds_are_contiguous_for_kernels() -> None:
    assert normals(0, 11).rounds(3)[1].flags.c_contiguous


def test_streams_blocks_and_seeds_differ() -> None:
    keys = [(0, s, b) for s in Stream for b in range(3)] + [(2**32 + 5, Stream.CHOICES, 0)]
    keys += [(5, Stream.REWARDS, 2), (5, Stream.REWARDS, 1), (2**80, Stream.PROBLEMS, 0)]
    first = {float(block_generator(*key).random()) for key in keys}
    assert len(first) == len(keys)


def test_noise_looks_standard_normal() -> None:
    numbers = normals(0, 4096, seed=3).rounds(16).ravel()
    assert abs(numbers.mean()) < 0.02
    assert abs(numbers.std() - 1) < 0.02
    assert BLOCK == 8
