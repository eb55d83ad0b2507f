import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lobandits.errors import LobInputError
from lobandits.simulation.blocks import (
    BLOCK,
    Moments,
    Noise,
    Stream,
    block_generator,
    blocks_of,
    checked_bounds,
    clipped_mean,
    empty_blocks,
    expected_rewards,
    noise_location,
    pay,
    sum_up_blocks,
)


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


RNG = np.random.default_rng(7)


def naive_reward(
    kind: str, location: float, sigma: float, bounds: tuple[float, float], z: float
) -> float:
    if kind == "bernoulli":
        return float(z < location)
    reward = location + sigma * z
    return min(max(reward, bounds[0]), bounds[1])


@pytest.mark.plain
@pytest.mark.parametrize("kind", ["gaussian", "clipped", "bernoulli"])
def test_pay_agrees_with_its_plain_twin(kind: str) -> None:
    n, k, sigma = 50, 4, 1.3
    bounds = (0.0, 1.0) if kind == "clipped" else (-np.inf, np.inf)
    location, gaps = RNG.normal(size=(n, k)), RNG.random((n, k))
    arms, noise = RNG.integers(k, size=n), RNG.normal(size=n)
    rewards, regret = np.empty(n), np.empty(n)
    binary = kind == "bernoulli"
    assert pay(arms, noise, location, gaps, sigma, *bounds, binary, rewards, regret) == -1
    for u in range(n):
        assert rewards[u] == naive_reward(kind, location[u, arms[u]], sigma, bounds, noise[u])
        assert regret[u] == gaps[u, arms[u]]


@pytest.mark.plain
@pytest.mark.parametrize("wrong", [-1, 3, 2**40])
def test_pay_finds_the_first_illegal_arm(wrong: int) -> None:
    table, arms = np.zeros((4, 3)), np.array([0, 2, wrong, wrong])
    out = np.full(4, np.nan), np.full(4, np.nan)
    assert pay(arms, np.zeros(4), table, table, 1.0, -np.inf, np.inf, False, *out) == 2
    assert np.isnan(out[1]).tolist() == [False, False, True, True]


@pytest.mark.parametrize("sigma", [0.1, 1.0, 5.0])
def test_clipped_mean_agrees_with_monte_carlo(sigma: float) -> None:
    location = np.array([-30.0, -1.0, 0.0, 0.4, 2.5, 4.9, 5.0, 6.0, 40.0])
    rewards = np.clip(location + sigma * RNG.normal(size=(400_000, 1)), 0.0, 5.0)
    error = rewards.std(axis=0) / np.sqrt(len(rewards))
    found = clipped_mean(location, sigma, (0.0, 5.0))
    assert (np.abs(found - rewards.mean(axis=0)) <= 5 * error + 1e-6).all()


def test_clipped_mean_stays_within_bounds_far_away() -> None:
    means = clipped_mean(np.array([-1e8, 1e8]), 0.01, (1.0, 2.0))
    assert means.tolist() == [1.0, 2.0]


def test_clipped_mean_with_hardly_any_noise() -> None:
    values = np.array([-3.0, 2.0, 9.0])
    assert clipped_mean(values, 1e-200, (0.0, 5.0)).tolist() == [0.0, 2.0, 5.0]


def test_clipping_keeps_the_order() -> None:
    means = clipped_mean(np.linspace(-3, 8, 200), 1.0, (0.0, 5.0))
    assert (np.diff(means) > 0).all()


def test_bernoulli_rewards_have_their_means() -> None:
    means = np.array([[0.0, 0.1, 0.5, 0.93, 1.0]])
    location = noise_location("bernoulli", means, None)
    z = RNG.normal(size=(200_000, 1))
    assert np.abs((z < location).mean(axis=0) - means[0]).max() < 0.006
    assert (z < location)[:, 0].sum() == 0
    assert (z < location)[:, -1].all()


def test_means_outside_zero_and_one_are_no_probabilities() -> None:
    with pytest.raises(LobInputError, match="between 0 and 1"):
        expected_rewards("bernoulli", np.array([[0.2, 1.1]]), 0.5, None)


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0, np.inf), (0,), 5, ("a", "b")])
def test_bad_bounds_are_refused(bounds: object) -> None:
    with pytest.raises(LobInputError, match="bounds"):
        checked_bounds(bounds)  # type: ignore[arg-type]


def test_clipped_rewards_need_bounds() -> None:
    with pytest.raises(LobInputError, match="need bounds"):
        expected_rewards("clipped", np.zeros((1, 2)), 1.0, None)


def test_unknown_rewards_name_the_closest() -> None:
    with pytest.raises(LobInputError, match="did you mean 'gaussian'"):
        expected_rewards("gausian", np.zeros((1, 2)), 1.0, None)


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
