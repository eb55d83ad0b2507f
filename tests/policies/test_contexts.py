"""An agent in contexts: choices among their arms, on the rewards of all."""

import numpy as np
import pytest

import lobandits as lob
from lobandits.errors import LobInputError

DAY = lob.LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]], ["tea", "milk", "juice"])
NIGHT = lob.LatentOrders.from_rankings([[2, 1, 0], [1, 0, 2]], ["tea", "milk", "juice"])
BOTH = lob.LatentOrders.per_context({"day": DAY, "night": NIGHT})
POLICIES = [
    lob.UCB(6, 1.0, arms=BOTH.arms),
    lob.TS(6, 1.0, arms=BOTH.arms),
    lob.LobTS(BOTH, 1.0),
    lob.LobUCB(BOTH, 1.0),
    lob.LobIMED(BOTH, 1.0),
    lob.LobIDS(BOTH, 1.0),
    lob.LobBayes(lob.Prior.from_orders(BOTH)),
]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_only_arms_of_the_context_are_played(policy: lob.Policy) -> None:
    agent = lob.Agent(policy, seed=0)
    for round_ in range(12):
        context = ("day", "night")[round_ % 2]
        chances = agent.probabilities(context=context)
        assert sum(chances.values()) == pytest.approx(1.0)
        assert all(name.startswith(f"{context}: ") for name, chance in chances.items() if chance)
        arm = agent.choose(context=context)
        assert arm in DAY.arms
        agent.record(arm, 1.0, context=context)
    assert agent.state.counts[0, :3].sum() == agent.state.counts[0, 3:].sum() == 6


@pytest.mark.parametrize("policy", POLICIES[2:], ids=lambda policy: policy.name)
def test_what_one_context_shows_speaks_for_the_other(policy: lob.Policy) -> None:
    agent = lob.Agent(policy, seed=0)
    for _ in range(20):
        for arm, reward in (("tea", 0.0), ("milk", 2.0), ("juice", 4.0)):
            agent.record(arm, reward, context="day")
    chances = agent.probabilities(context="night")
    assert chances["night: milk"] > 0.8


def test_allowed_arms_are_named_within_the_context() -> None:
    agent = lob.Agent(lob.LobTS(BOTH, 1.0), seed=0)
    assert agent.choose(allowed=["juice"], context="night") == "juice"
    assert agent.choose(allowed=["night: juice"]) == "night: juice"
    with pytest.raises(LobInputError, match="unknown arm 'beer'"):
        agent.choose(allowed=["beer"], context="night")
    with pytest.raises(LobInputError, match="unknown context 'noon'"):
        agent.choose(context="noon")
    with pytest.raises(LobInputError, match="unknown context 'noon'"):
        agent.record("tea", 1.0, context="noon")


def test_the_explanation_says_which_arms_may_be_played() -> None:
    agent = lob.Agent(lob.LobTS(BOTH, 1.0), seed=0)
    rows = agent.explain(context="night").arms
    assert [row["arm"] for row in rows if row["allowed"]] == list(BOTH.arms[3:])


def test_one_context_decides_as_no_context() -> None:
    plain = lob.Agent(lob.LobTS(DAY, 1.0), seed=3)
    inside = lob.Agent(lob.LobTS(lob.LatentOrders.per_context({"day": DAY}), 1.0), seed=3)
    noise = np.random.default_rng(0).normal(size=50)
    for z in noise:
        arm = plain.choose()
        assert inside.choose(context="day") == arm
        plain.record(arm, float(z))
        inside.record(arm, float(z), context="day")
