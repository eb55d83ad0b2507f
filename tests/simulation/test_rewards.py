import numpy as np
import pytest

from lobandits.errors import LobInputError
from lobandits.simulation.rewards import (
    checked_bounds,
    clipped_mean,
    expected_rewards,
    noise_location,
    pay,
)

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
