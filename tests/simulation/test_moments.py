import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lobandits.simulation.moments import Moments, empty_blocks, sum_up_blocks
from lobandits.simulation.streams import BLOCK


def in_chunks(regret: np.ndarray, size: int, batch: int) -> Moments:
    """Sum up users in chunks of ``size`` and rounds in batches."""
    n_users, horizon = regret.shape
    moments = Moments.empty(horizon)
    for first in range(0, n_users, size):
        part = regret[first : first + size]
        blocks, totals = empty_blocks(len(part), horizon), np.zeros(len(part))
        for start in range(0, horizon, batch):
            rounds = np.ascontiguousarray(part[:, start : start + batch].T)
            sum_up_blocks(rounds, totals, blocks, start, BLOCK)
        moments.add(blocks, len(part))
    return moments


@pytest.mark.plain
@pytest.mark.parametrize("n_users", [1, 2, 8, 9, 40])
def test_curves_agree_with_numpy(n_users: int) -> None:
    regret = np.random.default_rng(0).random((n_users, 50)) * 10
    moments = Moments.of(regret)
    assert moments.count == n_users
    for cumulative, values in ((False, regret), (True, regret.cumsum(axis=1))):
        mean, error = moments.curve(cumulative)
        assert np.allclose(mean, values.mean(axis=0), rtol=1e-13)
        if n_users > 1:
            assert np.allclose(error, values.std(axis=0, ddof=1) / np.sqrt(n_users), rtol=1e-12)
        else:
            assert np.isnan(error).all()


@given(
    n_users=st.integers(1, 70),
    size=st.integers(1, 10).map(lambda blocks: blocks * BLOCK),
    batch=st.integers(1, 40),
    seed=st.integers(0, 99),
)
def test_bits_do_not_depend_on_chunks_or_batches(
    n_users: int, size: int, batch: int, seed: int
) -> None:
    regret = np.random.default_rng(seed).gamma(0.3, size=(n_users, 33))
    whole, parts = Moments.of(regret), in_chunks(regret, size, batch)
    assert whole.count == parts.count
    assert whole.table.tobytes() == parts.table.tobytes()


def test_errors_survive_a_large_mean() -> None:
    """Summing squares would lose all digits here."""
    regret = 1e9 + np.random.default_rng(1).random((1000, 1))
    error = Moments.of(regret).curve(cumulative=False).error
    assert np.allclose(error, regret.std(axis=0, ddof=1) / np.sqrt(1000), rtol=1e-6)


def test_equal_users_have_no_error() -> None:
    assert Moments.of(np.full((100, 3), 0.1)).curve(cumulative=False).error.max() < 1e-15
