import numpy as np
import pytest
from scipy.stats import norm, poisson

from lobandits.errors import LobInputError
from lobandits.simulation.rewards import (
    ADDED,
    BINARY,
    COUNTED,
    WAYS,
    checked_bounds,
    clipped_mean,
    count_at,
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
    if kind == "poisson":
        return float(poisson.ppf(norm.cdf(z), location))
    reward = location + sigma * z
    return min(max(reward, bounds[0]), bounds[1])


@pytest.mark.plain
@pytest.mark.parametrize("kind", ["gaussian", "clipped", "bernoulli", "poisson"])
def test_pay_agrees_with_its_plain_twin(kind: str) -> None:
    n, k, sigma = 50, 4, 1.3
    bounds = (0.0, 1.0) if kind == "clipped" else (-np.inf, np.inf)
    location, gaps = RNG.normal(size=(n, k)), RNG.random((n, k))
    location = np.exp(location) if kind == "poisson" else location
    arms, noise = RNG.integers(k, size=n), RNG.normal(size=n)
    rewards, regret = np.empty(n), np.empty(n)
    way = WAYS.get(kind, ADDED)
    assert pay(arms, noise, location, gaps, sigma, *bounds, way, rewards, regret) == -1
    for u in range(n):
        assert rewards[u] == naive_reward(kind, location[u, arms[u]], sigma, bounds, noise[u])
        assert regret[u] == gaps[u, arms[u]]


@pytest.mark.plain
@pytest.mark.parametrize("wrong", [-1, 3, 2**40])
def test_pay_finds_the_first_illegal_arm(wrong: int) -> None:
    table, arms = np.zeros((4, 3)), np.array([0, 2, wrong, wrong])
    out = np.full(4, np.nan), np.full(4, np.nan)
    assert pay(arms, np.zeros(4), table, table, 1.0, -np.inf, np.inf, ADDED, *out) == 2
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


@pytest.mark.plain
@pytest.mark.parametrize("rate", [0.003, 0.2, 1.0, 7.5, 60.0, 900.0])
def test_a_count_is_the_quantile_of_its_noise(rate: float) -> None:
    z = np.concatenate([np.linspace(-6, 6, 41), [-40.0, 0.0]])
    found = np.array([count_at(rate, value) for value in z])
    np.testing.assert_array_equal(found, poisson.ppf(norm.cdf(z), rate).clip(0))
    assert (np.diff(found[:41]) >= 0).all()


@pytest.mark.plain
def test_counts_at_the_edges() -> None:
    assert [count_at(0.0, z) for z in (-40.0, 0.0, 40.0)] == [0.0, 0.0, 0.0]
    assert 0 < count_at(2.0, 40.0) < 100  # where the noise is beyond what a float resolves
    assert (WAYS["bernoulli"], WAYS["poisson"], ADDED) == (BINARY, COUNTED, 0)


def test_counts_have_their_means_and_variances() -> None:
    n, rates = 100_000, np.array([[0.0, 0.05, 0.7, 6.0]])
    for arm, rate in enumerate(rates[0]):
        rewards, regret, arms = np.empty(n), np.empty(n), np.full(n, arm)
        location = np.broadcast_to(noise_location("poisson", rates, None), (n, 4)).copy()
        pay(
            arms,
            RNG.normal(size=n),
            location,
            location,
            1.0,
            -np.inf,
            np.inf,
            COUNTED,
            rewards,
            regret,
        )
        error = 5 * np.sqrt(rate / n)
        assert abs(rewards.mean() - rate) <= error
        assert abs(rewards.var() - rate) <= 5 * np.sqrt((rate + 2 * rate**2) / n)


def test_rates_below_zero_are_no_means_of_counts() -> None:
    with pytest.raises(LobInputError, match=r"counts must not be negative, got -0\.2"):
        expected_rewards("poisson", np.array([[0.2, -0.2]]), 1.0, None)


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
