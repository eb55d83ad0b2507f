"""TS with a prior for each arm, as in Algorithm 4."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.cases import assert_same_game, gaussian
from tests.policies.reference import TSTwin

from lobandits.errors import LobInputError
from lobandits.policies import TS, policy_from_dict
from lobandits.policies.registry import stored_form

K, SIGMA = 4, 1.3
MEANS = np.random.default_rng(5).normal(size=(3, K))
PRIOR_MEANS, PRIOR_STDS = [0.0, -2.0, 1.5, 0.25], [100.0, 0.5, 1.0, 3.0]
PRIORS: dict[str, tuple[Any, Any]] = {
    "both": (PRIOR_MEANS, PRIOR_STDS),
    "means": (PRIOR_MEANS, 2.0),
    "deviations": (-1.0, PRIOR_STDS),
}


@pytest.mark.parametrize("case", PRIORS)
def test_agrees_with_the_listing(case: str) -> None:
    mean, std = PRIORS[case]
    twins = [TSTwin(K, SIGMA, mean, std) for _ in MEANS]
    policy = TS(K, SIGMA, prior_mean=mean, prior_std=std)
    assert_same_game(policy, twins, gaussian(MEANS, SIGMA), rounds=150)


@settings(max_examples=20)
@given(
    st.lists(st.integers(-30, 30).map(lambda x: x / 10), min_size=K, max_size=K),
    st.lists(st.sampled_from([0.2, 1.0, 10.0]), min_size=K, max_size=K),
    st.lists(st.integers(0, 5), min_size=K, max_size=K),
    st.lists(st.booleans(), min_size=K, max_size=K).filter(any),
)
def test_chances_agree_with_scipy(
    means: list[float], stds: list[float], plays: list[int], allowed: list[bool]
) -> None:
    policy, twin = TS(K, SIGMA, np.array(means), np.array(stds)), TSTwin(K, SIGMA, means, stds)
    state = policy.start()
    twin.allowed = allowed
    for a, n in enumerate(plays):
        for i in range(n):
            policy.record(state, a, 0.5 * i - a)
            twin.record(a, 0.5 * i - a)
    rows = policy.explain(state).arms
    assert [row["posterior mean"] for row in rows] == pytest.approx(twin.mu, abs=1e-9)
    assert [row["posterior std"] for row in rows] == pytest.approx(np.sqrt(twin.var), rel=1e-9)
    assert policy.probabilities(state, allowed)[0] == pytest.approx(twin.chances(), abs=1e-7)


@pytest.mark.plain
def test_posterior_by_hand() -> None:
    policy = TS(2, sigma=2.0, prior_mean=np.array([1.0, 5.0]), prior_std=np.array([1.0, 2.0]))
    state = policy.start()
    policy.record(state, [0, 0, 0, 0, 1], [3.0, 3.0, 3.0, 3.0, 9.0], users=0)
    rows = policy.explain(state).arms
    assert [row["posterior mean"] for row in rows] == pytest.approx([2.0, 7.0])
    assert [row["posterior std"] for row in rows] == pytest.approx([np.sqrt(0.5), np.sqrt(2.0)])


def test_the_same_for_each_arm_is_one_for_all() -> None:
    one, each = TS(K, SIGMA, -0.5, 2.0), TS(K, SIGMA, np.full(K, -0.5), np.full(K, 2.0))
    state, other = one.start(3), each.start(3)
    rng, again = np.random.default_rng(0), np.random.default_rng(0)
    for t in range(30):
        np.testing.assert_array_equal(one.probabilities(state), each.probabilities(other))
        arms = one.choose(state, rng)
        assert arms.tolist() == each.choose(other, again).tolist()
        one.record(state, arms, MEANS[range(3), arms] + t % 3)
        each.record(other, arms, MEANS[range(3), arms] + t % 3)


def test_storing_and_pickling_keep_them() -> None:
    policy = TS(K, SIGMA, np.array(PRIOR_MEANS), np.array(PRIOR_STDS))
    copies: list[Any] = [policy_from_dict(stored_form(policy)), pickle.loads(pickle.dumps(policy))]
    for back in copies:
        assert back == policy
        assert hash(back) == hash(policy)
        np.testing.assert_array_equal(back.prior_mean, PRIOR_MEANS)
        np.testing.assert_array_equal(back.prior_std, PRIOR_STDS)
    assert policy != TS(K, SIGMA, np.array(PRIOR_MEANS))
    assert policy != TS(K, SIGMA, np.array(PRIOR_MEANS), np.array(PRIOR_STDS[::-1]))


def test_later_changes_of_the_array_do_not_matter() -> None:
    means = np.zeros(K)
    policy = TS(K, SIGMA, means)
    before = policy.probabilities(policy.start())
    means[0] = 1e6
    np.testing.assert_array_equal(policy.probabilities(policy.start()), before)
    with pytest.raises(ValueError, match="read-only"):
        policy.prior_mean[0] = 1.0  # type: ignore[index]


@pytest.mark.parametrize("name", ["prior_mean", "prior_std"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0] * (K - 1), f"has 3 entries for {K} arms; give one for each, or one number for all"),
        ([1.0] * (K + 1), f"has 5 entries for {K} arms"),
        ([], f"has 0 entries for {K} arms"),
        ([[1.0] * K], "must"),
        ([1.0, 1.0, np.nan, 1.0], "is nan; every value must be a finite number"),
        ([1.0, 1.0, np.inf, 1.0], "is inf; every value must be a finite number"),
        (["a"] * K, "must"),
        ("wide", "must"),
        (None, "must"),
    ],
)
def test_other_priors_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(LobInputError, match=f"^{name}.*{message}"):
        TS(K, SIGMA, **{name: value})


@pytest.mark.parametrize("std", [0.0, -1.0, 1e-60, 1e60])
def test_a_deviation_that_is_none_is_refused(std: float) -> None:
    for value in (std, [1.0, std, 1.0, 1.0]):
        with pytest.raises(LobInputError, match="prior_std must"):
            TS(K, SIGMA, prior_std=value)  # type: ignore[arg-type]
