from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from tests.policies.cases import assert_same_game, gaussian
from tests.policies.reference import TSTwin

from lobandits.basics.checks import FloatArray
from lobandits.errors import LobInputError
from lobandits.policies import TS, State
from lobandits.rules.draws import RULE, chances_of_largest

MEANS = np.random.default_rng(5).normal(size=(4, 6))


@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("n_arms", [1, 2, 6])
def test_agrees_with_the_listing(n_arms: int, sigma: float) -> None:
    twins = [TSTwin(n_arms, sigma) for _ in MEANS]
    assert_same_game(TS(n_arms, sigma), twins, gaussian(MEANS, sigma), rounds=200)


@pytest.mark.plain
def test_agrees_with_the_listing_for_another_prior() -> None:
    twins = [TSTwin(6, 2.0, prior_mean=-3.0, prior_std=0.7) for _ in MEANS]
    policy = TS(6, 2.0, prior_mean=-3.0, prior_std=0.7)
    assert_same_game(policy, twins, gaussian(MEANS, 2.0), rounds=200)


def odds(means: FloatArray, stds: FloatArray) -> FloatArray:
    return chances_of_largest(means, stds, *RULE)


def odds_by_scipy(means: FloatArray, stds: FloatArray, a: int) -> float:
    def integrand(x: float) -> float:
        others = np.delete(np.arange(len(means)), a)
        cdf = norm.cdf((x - means[others]) / stds[others])
        return float(norm.pdf(x, means[a], stds[a]) * np.prod(cdf))

    cuts = np.unique(np.concatenate([means + z * stds for z in (-9, -5, -3, -1, 0, 1, 3, 5, 9)]))
    return sum(
        float(quad(integrand, lo, hi, epsabs=1e-11, epsrel=1e-11, limit=200)[0])
        for lo, hi in pairwise(cuts)
    )


TOUGH = {
    "one arm": ([3.0], [0.5]),
    "equal arms": ([1.0] * 4, [2.0] * 4),
    "prior against posterior": ([0.0, 3.2, 3.21], [100.0, 0.01, 0.02]),
    "nine scales": (np.linspace(-1, 1, 9), 10.0 ** np.arange(-6, 3)),
    "far apart": ([0.0, 50.0, -1e6], [1.0, 1.0, 1.0]),
    "a narrow arm inside wide ones": ([0.0, 0.1, 0.2], [5.0, 1e-7, 5.0]),
    "narrow arms far from zero": ([1e6, 1e6 + 1e-3], [1e-3, 2e-3]),
    "wide and hopeless": ([0.0, -400.0, 0.3], [0.1, 100.0, 0.2]),
}


@pytest.mark.parametrize("case", TOUGH, ids=str)
def test_propensities_agree_with_scipy(case: str) -> None:
    means, stds = (np.array(x, dtype=float) for x in TOUGH[case])
    found = odds(means, stds)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    expected = [odds_by_scipy(means, stds, a) for a in range(len(means))]
    assert found == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize("n_arms", [2, 19, 1000])
def test_propensities_of_equal_arms_are_equal(n_arms: int) -> None:
    assert odds(np.full(n_arms, -7.0), np.full(n_arms, 0.3)) == pytest.approx(1 / n_arms, abs=1e-9)


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(5))
def test_two_arms_have_a_closed_form(seed: int) -> None:
    rng = np.random.default_rng(seed)
    means, stds = rng.normal(size=2), 10.0 ** rng.uniform(-4, 3, size=2)
    exact = norm.cdf((means[0] - means[1]) / np.hypot(*stds))
    assert odds(means, stds)[0] == pytest.approx(exact, abs=1e-8)


def test_propensities_match_monte_carlo() -> None:
    policy = TS(5, sigma=1.0)
    state = policy.start()
    arms = [0, 0, 1, 1, 1, 2, 3, 3]
    policy.record(state, arms, [1.0, 1.2, 1.1, 0.4, 1.3, 0.9, -0.5, 2.0], users=0)
    many = state.take(np.zeros(200_000, np.int64))
    counts = np.bincount(policy.choose(many, rng=3), minlength=5)
    p = policy.probabilities(state)[0]
    assert np.abs(counts / 200_000 - p).max() < 5 * np.sqrt(0.25 / 200_000)


@pytest.mark.plain
def test_posterior_by_hand() -> None:
    policy = TS(2, sigma=2.0, prior_mean=1.0, prior_std=1.0)
    state = policy.start()
    policy.record(state, [0, 0, 0, 0], [3.0, 3.0, 3.0, 3.0], users=0)
    rows = policy.explain(state).arms
    assert [row["posterior mean"] for row in rows] == pytest.approx([2.0, 1.0])
    assert [row["posterior std"] for row in rows] == pytest.approx([np.sqrt(0.5), 1.0])


def test_billions_of_plays_keep_propensities_sharp() -> None:
    policy = TS(3, sigma=1.0)
    counts = np.array([[10**9, 10**9, 5]])
    state = State(counts=counts, sums=counts * np.array([1.0, 1.0, 0.0]), carries=np.zeros((1, 3)))
    assert policy.probabilities(state)[0, :2] == pytest.approx(0.4937, abs=1e-3)


def test_refuses_priors_that_are_none() -> None:
    with pytest.raises(LobInputError, match="prior_std"):
        TS(2, 1.0, prior_std=0.0)
    with pytest.raises(LobInputError, match="prior_mean"):
        TS(2, 1.0, prior_mean=np.nan)


def test_propensities_where_the_spread_vanishes_beside_the_means() -> None:
    policy = TS(3, sigma=1.0)
    state = policy.start()
    policy.record(state, [0, 1, 2], [1e30, 3e30, 2e30], users=0)
    assert policy.probabilities(state).tolist() == [[0.0, 1.0, 0.0]]
    assert policy.choose(state, 0).tolist() == [1]
