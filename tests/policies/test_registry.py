from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.policies.cases import random_problems

from lobandits.errors import LobInputError
from lobandits.policies import (
    MTS,
    MUCB,
    POLICIES,
    TS,
    UCB,
    LobBayes,
    TopArmsUCB,
    make_policy,
    policy_from_dict,
)

PROBLEMS = random_problems(4, 3, 2.0, 1.0, None)


def test_names() -> None:
    assert list(POLICIES) == [
        "ucb",
        "ts",
        "mucb",
        "mts",
        "lobucb",
        "lobts",
        "toparms",
        "lobimed",
        "lobids",
        "popular",
        "mixts",
        "lobbayes",
    ]
    assert all(cls.name == name for name, cls in POLICIES.items())
    with pytest.raises(TypeError):
        POLICIES["new"] = UCB  # type: ignore[index]


def test_policies_know_what_they_may_know() -> None:
    assert make_policy("ucb", PROBLEMS) == UCB(4, 2.0)
    assert make_policy("ts", PROBLEMS, prior_std=3.0) == TS(4, 2.0, prior_std=3.0)
    assert make_policy("mts", PROBLEMS) == MTS(PROBLEMS.state_means, 2.0)
    mucb = MUCB(PROBLEMS.state_means, 2.0, 70, margin=0.5)
    assert make_policy("mucb", PROBLEMS, horizon=70, margin=0.5) == mucb
    assert make_policy("toparms", PROBLEMS) == TopArmsUCB(PROBLEMS.orders, 2.0)


def test_options_come_before_the_problems() -> None:
    assert make_policy("ucb", PROBLEMS, sigma=7.0) == UCB(4, 7.0)
    assert make_policy("mucb", PROBLEMS, horizon=5).horizon == 5  # type: ignore[attr-defined]


def test_close_names_are_suggested() -> None:
    with pytest.raises(LobInputError, match="did you mean 'mucb'"):
        make_policy("mucbb", PROBLEMS)
    with pytest.raises(LobInputError, match="unknown policy 'zzzz'; Known: ucb, ts"):
        make_policy("zzzz", PROBLEMS)
    with pytest.raises(LobInputError, match="did you mean 'prior_std'"):
        make_policy("ts", PROBLEMS, prior_sd=3.0)


def test_mucb_needs_the_horizon() -> None:
    with pytest.raises(LobInputError, match="horizon"):
        make_policy("mucb", PROBLEMS)


def test_policies_on_a_prior_say_how_to_get_one() -> None:
    prior = PROBLEMS.prior
    bare: Any = SimpleNamespace(n_arms=4, sigma=2.0, orders=PROBLEMS.orders, state_means=None)
    assert make_policy("lobbayes(trust=0.9)", PROBLEMS) == LobBayes(prior, trust=0.9)
    for name in ("popular", "mixts", "lobbayes"):
        with pytest.raises(LobInputError, match=rf"^{name} needs a prior.*past_users.*hold_out"):
            make_policy(name, bare)
        given = make_policy(name, bare, prior=prior)
        assert given == make_policy(name, PROBLEMS)


def test_arm_names_come_from_the_orders() -> None:
    names = ("a", "b", "c", "d")
    orders = type(PROBLEMS.orders).from_rankings([[0, 1, 2, 3]], arms=names)
    problems = type(PROBLEMS)(4, 1.0, orders, np.ones((1, 4)))
    for name in POLICIES:
        assert make_policy(name, problems, horizon=9).arms == names


def test_stored_policies_with_wrong_fields_are_refused() -> None:
    data = UCB(2, 1.0).to_dict()
    with pytest.raises(LobInputError, match="'policy'"):
        policy_from_dict({})
    with pytest.raises(LobInputError, match="unknown policy 'cub'"):
        policy_from_dict(data | {"policy": "cub"})
    with pytest.raises(LobInputError, match="lacks the field 'sigma'"):
        policy_from_dict({key: value for key, value in data.items() if key != "sigma"})
    with pytest.raises(LobInputError, match="did you mean 'sigma'"):
        policy_from_dict(data | {"sigmas": 1.0})
    with pytest.raises(LobInputError, match="sigma must be positive"):
        policy_from_dict(data | {"sigma": -1.0})


def test_options_in_brackets() -> None:
    policy = make_policy("lobts(project_every=10, sigma=2.5)", PROBLEMS)
    assert (policy.project_every, policy.sigma) == (10, 2.5)  # type: ignore[attr-defined]
    assert make_policy("ucb()", PROBLEMS) == make_policy("ucb", PROBLEMS)
    quoted, plain = (f"ucb(half_life=5, forget={word})" for word in ("'always'", "always"))
    assert make_policy(plain, PROBLEMS).forget == "always"
    assert make_policy(plain, PROBLEMS) == make_policy(quoted, PROBLEMS)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lobts(10)", r"options in 'lobts\(10\)'; write them like lobts\(option=1\)"),
        ("lobts(project_every=)", "cannot read the options"),
        ("lobts(**{})", "cannot read the options"),
        ("lobts(project_every=open('x'))", "cannot read the options"),
        ("lobts(forget=seldom, half_life=5)", "forget"),
        ("lobts(project_evry=2)", "did you mean 'project_every'"),
        ("lobst(project_every=2)", "did you mean 'lobts'"),
    ],
)
def test_options_that_cannot_be_read_are_refused(name: str, words: str) -> None:
    with pytest.raises(LobInputError, match=words):
        make_policy(name, PROBLEMS)
