"""Users whom no state explains: few under a right model, most under a wrong one."""

import numpy as np
import pytest

import lobandits as lob
from lobandits.policies import Policy
from lobandits.service import fit
from lobandits.service.fit import LEVEL, fit_report, unexplained
from lobandits.service.served_policy import state_of

ORDERS = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]]
MEANS = np.array([[3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0], [2.0, 3.0, 0.0, 1.0]])
WRONG = np.array([[0.0, 3.0, 1.0, 2.5], [2.0, 0.0, 3.0, 1.0]])  # against every order above


def policies() -> list[Policy]:
    orders = lob.LatentOrders.from_rankings(ORDERS)
    prior = lob.Prior(
        orders.arms, np.full(3, 1 / 3), MEANS, np.full((4, 1), 0.1), np.full(4, 0.05),
        np.full(3, 0.1), lob.Gaussian(1.0),
    )  # fmt: skip
    return [
        lob.LobTS(orders, sigma=1.0),
        lob.MTS(MEANS, sigma=1.0),
        lob.LobBayes(prior),
        lob.MixTS(prior),
    ]


def played(policy: Policy, means: np.ndarray, n_users: int = 400, plays: int = 15) -> lob.State:
    rng = np.random.default_rng(4)
    mu = means[rng.integers(len(means), size=n_users)]
    counts = np.full(mu.shape, plays)
    return state_of(policy, counts, counts * rng.normal(mu, 1 / np.sqrt(plays)))


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.name)
def test_a_wrong_model_shows(policy: Policy) -> None:
    right, wrong = (fit_report(policy, played(policy, means)) for means in (MEANS, WRONG))
    assert right is not None
    assert wrong is not None
    assert right["users"] == 400
    assert right["unexplained"] <= LEVEL + 4 * np.sqrt(LEVEL / 400)
    assert wrong["unexplained"] > 0.9


def test_one_user_by_eye() -> None:
    """Two arms, one order: y = (0, 2) after 9 plays each pools to 1, so the loss is 18."""
    policy = lob.LobTS(lob.LatentOrders.from_rankings([[0, 1]]), sigma=1.0)
    found = unexplained(policy, state_of(policy, np.array([[9, 9]]), np.array([[0.0, 18.0]])))
    assert found is not None
    assert found.tolist() == [True]  # a chi-square with 2 degrees exceeds 9.2 in 1 of 100
    near = unexplained(policy, state_of(policy, np.array([[9, 9]]), np.array([[0.0, 9.0]])))
    assert near is not None
    assert near.tolist() == [False]  # the loss is 4.5


def test_users_as_a_prior_sees_them_are_explained() -> None:
    """Of clicks and counts, too; users whose best arms are the prior's worst are not."""
    rng = np.random.default_rng(5)
    for likelihood in (lob.Gaussian(1.0), lob.Bernoulli(), lob.Poisson()):
        prior = lob.Prior(
            tuple("abcd"), np.array([0.6, 0.4]), MEANS[:2] - 1.5, np.full((4, 1), 0.5),
            np.full(4, 0.1), np.array([0.2, 0.0]), likelihood,
        )  # fmt: skip
        policy, counts = lob.LobBayes(prior), np.full((1000, 4), 20)
        _, means = prior.draw(1000, 0)
        sums = sum(likelihood.draw(means, rng) for _ in range(20))
        found = unexplained(policy, state_of(policy, counts, np.asarray(sums)))
        assert found is not None
        assert found.mean() < 3 * LEVEL
        rates = likelihood.mean(np.array([[-2.0, 2.0, -2.0, 2.0]]))
        wrong = unexplained(policy, state_of(policy, counts[:1], 20 * rates))
        assert wrong is not None
        assert wrong.all()


def test_the_distance_is_that_of_the_averages_from_a_state() -> None:
    """Mahalanobis by the textbook, of the arms that were played."""
    loadings, own = np.array([[0.5], [0.4], [0.3]]), np.array([0.1, 0.2, 0.3])
    means = np.array([[1.0, 0.0, -1.0]])
    prior = lob.Prior(tuple("abc"), np.ones(1), means, loadings, own, np.zeros(1), lob.Gaussian(2))
    counts, sums = np.array([[4.0, 0.0, 2.0]]), np.array([[12.0, 0.0, 5.0]])
    away = np.array([3.0 - 1.0, 2.5 + 1.0])
    covariance = (loadings @ loadings.T + np.diag(own))[np.ix_([0, 2], [0, 2])]
    expected = away @ np.linalg.solve(covariance + 4.0 * np.diag([0.25, 0.5]), away)
    np.testing.assert_allclose(fit._least_under_prior(prior, counts, sums), expected)


def test_orders_without_a_scale_explain_users_of_any_scale() -> None:
    orders = lob.LatentOrders.from_rankings(ORDERS)
    policy = lob.LobBayes(lob.Prior.from_orders(orders))
    for scale in (0.3, 3.0):
        found = unexplained(policy, played(policy, 50.0 + scale * MEANS))
        assert found is not None
        assert found.mean() <= LEVEL + 4 * np.sqrt(LEVEL / 400)
    wrong = unexplained(policy, played(policy, 5.0 * WRONG, plays=50))
    assert wrong is not None
    assert wrong.mean() > 0.9


def test_without_states_or_users_there_is_nothing_to_say() -> None:
    ucb = lob.UCB(3, sigma=1.0)
    assert fit_report(ucb, ucb.start(5)) is None
    policy = policies()[0]
    report = fit_report(policy, policy.start(3))
    assert report == {"users": 0, "unexplained": None, "expected": LEVEL}
