import numpy as np
import pytest

from lobandits.orders.chains import by_arm, keep_links


def test_the_links_with_the_least_noise_are_kept() -> None:
    noise = np.array([[0.9, 0.1, 0.5, 0.3], [0.2, 0.8, 0.7, 0.1]])
    np.testing.assert_array_equal(
        keep_links(noise, 0.5),
        [[False, False, True, False, True], [False, True, False, False, True]],
    )


@pytest.mark.parametrize("links", range(16))
def test_the_number_kept_is_exact(links: int) -> None:
    noise = np.random.default_rng(0).random((3, links))
    for count in range(links + 1):
        kept = keep_links(noise, count / max(links, 1)).sum(axis=-1)
        np.testing.assert_array_equal(kept, count)


def test_a_share_that_floating_point_rounds_up() -> None:
    assert 0.28 * 25 > 7
    assert keep_links(np.random.default_rng(0).random(25), 0.28).sum() == 7


def test_by_arm_inverts_a_sequence() -> None:
    sequence = np.array([[2, 0, 1], [1, 2, 0]], dtype=np.uint32)
    values = np.array([[10, 20, 30], [40, 50, 60]])
    np.testing.assert_array_equal(by_arm(sequence, values), [[20, 30, 10], [60, 40, 50]])
