"""What labels stand for: c times sigma, priors by arm, ties broken anew."""

from threading import Event
from typing import Any

import numpy as np

import lobandits as lob
from lobandits.paper.parts import RatingData, Simulation
from lobandits.paper.parts.policies import MUCB_TIES, TS_BY_ARM, spec

TASK: dict[str, Any] = {"n_arms": 5, "n_states": 4}


def run(policies: tuple[str, ...], n_users: int = 8, c: float = 1.0) -> Any:
    part = Simulation("synthetic", TASK, policies, 100, n_users, c=c)
    return part.run(RatingData(seed=1), Event())


def test_c_is_the_sigma_that_policies_are_told() -> None:
    found = run(("ucb", "lobts"), c=0.5)
    specs = {"ucb": "ucb(sigma=0.5)", "lobts": "lobts(sigma=0.5)"}
    same = lob.simulate(lob.Synthetic(**TASK), specs, 100, 8, seed=1, progress=False)
    for label in specs:
        np.testing.assert_array_equal(found.total(label), same.totals[label])
    assert (found.total("ucb") != run(("ucb",)).total("ucb")).any()


def test_the_prior_by_arm_is_that_of_the_users_who_shaped_the_states() -> None:
    env = RatingData().environment(5, alpha=1.0, hold_out=0.5)
    policy = spec(TS_BY_ARM, env, 10, 2.0)
    assert env.past is not None
    taught = env.past.problems.means
    np.testing.assert_allclose(policy.prior_mean, taught.mean(axis=0))
    np.testing.assert_allclose(policy.prior_std, taught.std(axis=0, ddof=1))
    assert policy.sigma == 2.0 * env.sigma


def test_mucb_with_ties_anew_wanders_among_states_that_tie() -> None:
    """All states of the synthetic task tie; the belief that is kept has far less regret."""
    found = run(("mucb", MUCB_TIES), n_users=200)
    more = found.total(MUCB_TIES) - found.total("mucb")
    assert more.mean() > 4 * more.std() / np.sqrt(len(more))


def test_mucb_with_ties_anew_is_mucb_where_nothing_ties() -> None:
    means = np.array([[3.0, 1.0, 0.0], [0.5, 2.0, 1.0], [0.0, 0.2, 1.5]])
    orders = lob.LatentOrders.from_means(means)
    env = lob.FixedProblems(means, sigma=1.0, orders=orders, state_means=means)
    specs = {"kept": "mucb", "anew": spec(MUCB_TIES, lob.Synthetic(), 200, 1.0)}
    found = lob.simulate(env, specs, 200, 3, seed=0, progress=False)
    np.testing.assert_array_equal(found.totals["kept"], found.totals["anew"])
