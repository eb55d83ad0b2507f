"""Likelihoods: how rewards come, what cells are, what does not fit, one from out of the tree."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bernoulli, nbinom, poisson

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.beliefs import (
    LIKELIHOODS,
    Bernoulli,
    Gaussian,
    Likelihood,
    Poisson,
    Prior,
    likelihood_from_dict,
)
from lobandits.errors import LobInputError
from lobandits.learning.fit_prior import fit_prior
from lobandits.learning.table import RewardTable
from lobandits.policies import LobBayes

OURS: list[Likelihood] = [Gaussian(1.5), Bernoulli(), Poisson()]
ours = pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.name)


def test_ours_are_known_by_name() -> None:
    assert {"gaussian": Gaussian, "bernoulli": Bernoulli, "poisson": Poisson} == LIKELIHOODS


@ours
def test_the_slope_is_that_of_the_mean(kind: Likelihood) -> None:
    eta = np.linspace(-4, 4, 17)
    wanted = (kind.mean(eta + 1e-6) - kind.mean(eta - 1e-6)) / 2e-6
    np.testing.assert_allclose(kind.slope(eta), wanted, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(kind.link(kind.mean(eta)), eta, atol=1e-9)


@ours
def test_draws_have_the_mean_and_the_noise(kind: Likelihood) -> None:
    means = np.array([0.2, 0.5, 0.7])
    drawn = kind.draw(np.tile(means, (100_000, 1)), np.random.default_rng(0))
    assert drawn.shape == (100_000, 3)
    np.testing.assert_allclose(drawn.mean(axis=0), means, atol=0.03)
    np.testing.assert_allclose(drawn.var(axis=0), kind.noise(means), atol=0.05)


def test_log_densities_are_scipys() -> None:
    """Up to what does not depend on the taste."""
    eta, n, total = np.array([-1.0, 0.5]), np.array([6.0, 6.0]), np.array([2.0, 2.0])
    rewards = np.array([1, 1, 0, 0, 0, 0])
    wanted = [bernoulli.logpmf(rewards, 1 / (1 + np.exp(-x))).sum() for x in eta]
    np.testing.assert_allclose(Bernoulli().log_density(n, total, eta), wanted)
    wanted = [poisson.logpmf(rewards, np.exp(x)).sum() for x in eta]
    np.testing.assert_allclose(np.diff(Poisson().log_density(n, total, eta)), np.diff(wanted))
    found = Gaussian(0.5).log_density(n, total, eta)
    wanted = [-0.5 * ((rewards - x) ** 2 / 0.25).sum() for x in eta]
    np.testing.assert_allclose(np.diff(found), np.diff(wanted))


@pytest.mark.parametrize("kind", OURS[1:], ids=lambda kind: kind.name)
@given(
    n=st.integers(1, 50), share=st.floats(0, 1), e=st.floats(-6, 2), v=st.floats(0.01, 4)
)  # fmt: skip
def test_cells_are_newton_steps_on_expected_slopes(
    kind: Likelihood, n: int, share: float, e: float, v: float
) -> None:
    counts, sums, at = np.array([float(n)]), np.array([np.round(share * n)]), np.array([e])
    value, variance = kind.cells(counts, sums, at, np.array([v]))
    rng = np.random.default_rng(0)
    eta = e + np.sqrt(v) * rng.standard_normal(200_000)
    slope = kind.slope(eta).mean()
    near = 0.05 if kind.name == "poisson" else 0.25  # three nodes, at up to two deviations
    assert 1 / (n * variance[0]) == pytest.approx(slope, rel=near)
    gap = sums[0] / n - kind.mean(eta).mean()
    assert (value[0] - e) / (n * variance[0]) == pytest.approx(gap, abs=0.05 + near * abs(gap))


@pytest.mark.parametrize("total", [0.0, 7.0])
def test_cells_of_extreme_rewards_are_finite(total: float) -> None:
    counts, sums = np.array([7.0]), np.array([total])
    for kind in OURS:
        for value in kind.first_cells(counts, sums, np.zeros(1, np.int64)):
            assert np.isfinite(value).all()
        for e in (-1e3, -12.0, 0.0, 12.0, 1e3):
            for value in kind.cells(counts, sums, np.array([e]), np.ones(1)):
                assert np.isfinite(value).all()


def test_each_arm_may_have_a_sigma_of_its_own() -> None:
    kind = Gaussian([1.0, 2.0])  # type: ignore[arg-type]
    np.testing.assert_array_equal(kind.noise(np.zeros((3, 2))), [[1.0, 4.0]] * 3)
    _, variance = kind.first_cells(np.full(3, 2.0), np.ones(3), np.array([0, 1, 1]))
    np.testing.assert_array_equal(variance, [0.5, 2.0, 2.0])
    assert kind.with_arm(1).sigma.tolist() == [1.0, 2.0, 2.0]  # type: ignore[union-attr]
    average = kind.with_arm(None).sigma[-1]  # type: ignore[index]
    assert average == pytest.approx(np.sqrt(2.5))
    assert Gaussian(1.0).with_arm(None) == Gaussian(1.0)


@pytest.mark.parametrize("kind", [*OURS, Gaussian([0.5, 2.0])], ids=repr)  # type: ignore[arg-type]
def test_a_likelihood_comes_back_from_plain_data(kind: Likelihood) -> None:
    data = kind.to_dict()
    assert data["likelihood"] == kind.name
    back = likelihood_from_dict(data)
    assert back == kind
    assert hash(back) == hash(kind)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "^here needs the field 'likelihood'"),
        (3, "^here needs the field 'likelihood'"),
        ({"likelihood": "gausian"}, "here 'gausian'.*did you mean 'gaussian'"),
        ({"likelihood": "gaussian"}, "here lacks the field 'sigma'"),
        ({"likelihood": "gaussian", "sigma": -1.0}, "sigma must be positive"),
        ({"likelihood": "bernoulli", "sigma": 1.0}, "field of here 'sigma'"),
    ],
)
def test_other_data_are_refused(data: Any, words: str) -> None:
    with pytest.raises(LobInputError, match=words):
        likelihood_from_dict(data, "here")


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.nan, [1.0, 0.0], [], [[1.0]], "x"])
def test_sigma_must_be_positive(sigma: Any) -> None:
    with pytest.raises(LobInputError, match="sigma"):
        Gaussian(sigma)


def fault(kind: Likelihood, rewards: list[list[float]]) -> str:
    """Why cells with these rewards are not of this kind."""
    cells = [np.array(cell) for cell in rewards]
    counts, sums = [np.array([f(cell) for cell in cells], float) for f in (len, np.sum)]
    return kind.fault(counts, sums, np.array([(cell**2).sum() for cell in cells]))


def test_rewards_that_do_not_fit_are_named() -> None:
    assert fault(Gaussian(1.0), [[-3.5, 2.0]]) == ""
    assert fault(Bernoulli(), [[0, 1, 1], [0], [1]]) == ""
    assert fault(Poisson(), [[0, 1, 7], [3]]) == ""
    assert "1 pairs of a user and an arm have others, the first with an average of 2" in fault(
        Bernoulli(), [[0, 1], [2]]
    )
    assert "take likelihood='gaussian'" in fault(Bernoulli(), [[0.5]])
    assert fault(Bernoulli(), [[-1]])
    assert fault(Bernoulli(), [[2, -1]])  # sums that clicks could have
    assert "some average is -1.5; take likelihood='gaussian'" in fault(Poisson(), [[-1, -2]])
    assert "some add up to 1.5" in fault(Poisson(), [[1, 0.5]])


def test_weights_of_clicks_and_counts_fit() -> None:
    weight = np.array([0.3, 1.7])
    assert Bernoulli().fault(weight, np.array([0.0, 0.9]), np.array([0.0, 0.9])) == ""
    assert Poisson().fault(weight, np.array([0.4, 0.9]), np.array([0.4, 1.9])) == ""


# One from out of the tree -------------------------------------------------------------------------


@dataclass(frozen=True)
class NegativeBinomial(Likelihood):
    """Counts of the rate exp(eta) that scatter more than Poisson's: variance mu + mu^2 / size."""

    name: ClassVar[str] = "negative binomial"
    size: float

    def mean(self, eta: FloatArray) -> FloatArray:
        return np.exp(np.minimum(eta, 20.0))

    def slope(self, eta: FloatArray) -> FloatArray:
        return self.mean(eta)

    def link(self, mean: FloatArray) -> FloatArray:
        return np.log(mean)

    def noise(self, mean: FloatArray) -> FloatArray:
        return mean + mean**2 / self.size

    def log_density(self, counts: FloatArray, sums: FloatArray, eta: FloatArray) -> FloatArray:
        mu = self.mean(eta)
        return np.asarray(sums * eta - (sums + counts * self.size) * np.log(mu + self.size))

    def draw(self, means: FloatArray, rng: np.random.Generator) -> FloatArray:
        return rng.poisson(rng.gamma(self.size, means / self.size)).astype(float)

    def fault(self, counts: FloatArray, sums: FloatArray, squares: FloatArray) -> str:
        return "" if (sums >= 0).all() else "negative binomial rewards are counts, not below 0"

    def cells(
        self, counts: FloatArray, sums: FloatArray, e: FloatArray, v: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """exp is not this likelihood's own link, so that slope and information differ."""
        average, centre = sums / counts, np.clip(e, -12.0, 12.0)

        def score(eta: FloatArray) -> FloatArray:
            return np.asarray((average - self.mean(eta)) / (1 + self.mean(eta) / self.size))

        def told(eta: FloatArray) -> FloatArray:
            return np.asarray(self.mean(eta) / (1 + self.mean(eta) / self.size))

        precision = self.expected(told, centre, v)
        return centre + self.expected(score, centre, v) / precision, 1 / (counts * precision)

    def first_cells(
        self, counts: FloatArray, sums: FloatArray, arms: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        value = np.log((sums + 0.5) / (counts + 1))
        return value, (1 / self.mean(value) + 1 / self.size) / counts


del LIKELIHOODS[NegativeBinomial.name]  # known to these tests only


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIKELIHOODS, NegativeBinomial.name, NegativeBinomial)


def test_a_class_with_a_name_makes_itself_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIKELIHOODS, "mine", Poisson)  # removed after the test

    class Mine(Poisson):
        name = "mine"

    assert LIKELIHOODS["mine"] is Mine
    assert likelihood_from_dict({"likelihood": "mine"}) == Mine()


@pytest.mark.usefixtures("known")
def test_negative_binomial_counts_are_learned_and_played() -> None:
    kind = NegativeBinomial(3.0)
    mu = np.array([0.5, 2.0])
    wanted = nbinom.logpmf(4, 3.0, 3.0 / (3.0 + mu))
    one, four = np.ones(2), np.full(2, 4.0)
    found = kind.log_density(one, four, np.log(mu))
    np.testing.assert_allclose(np.diff(found), np.diff(wanted))
    rng = np.random.default_rng(0)
    rates = np.exp(np.log([[0.5, 1.0, 3.0]]) + 0.4 * rng.standard_normal((400, 1)))
    counts = np.full((400, 3), 8)
    rewards = [kind.draw(rates, rng) for _ in range(8)]
    sums, squares = np.sum(rewards, axis=0), np.sum(np.square(rewards), axis=0)
    table = RewardTable(np.arange(400), ("a", "b", "c"), counts, sums, squares)
    prior = fit_prior(table, kind, n_states=1).prior
    np.testing.assert_allclose(prior.population_mean, rates.mean(axis=0), rtol=0.15)
    assert Prior.from_dict(prior.to_dict()) == prior
    policy = LobBayes(prior)
    state = policy.start(2)
    policy.record(state, [0, 0, 2], [9.0, 8.0, 0.0], users=[0, 0, 0])
    chances = policy.probabilities(state)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert chances[1].argmax() == 2
    means = prior.posterior(state.counts, state.sums)[1]
    assert means[0, 0] > 1.3 * means[1, 0]
