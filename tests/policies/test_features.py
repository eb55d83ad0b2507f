"""Policies that know what users' features say, before any reward and after."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lobandits as lob
from lobandits.beliefs import Likelihood
from lobandits.beliefs.feature_effects import FeatureEffects
from lobandits.beliefs.features import Features
from lobandits.statistics import FadingState

FEATURES = Features.of({"age": [20, 30, 40] * 3, "club": ["a", "b", "b"] * 3})
ARMS = ("tea", "cake", "soup")


def prior(tell: bool = True, kind: Likelihood | None = None) -> lob.Prior:
    """Members of club a like tea, of club b cake; older people like soup."""
    single = np.array([[0.0, 0.8, -0.8], [0.0, -0.8, 0.8], [1.5, 0.0, 0.0]])
    effects = FeatureEffects(FEATURES, np.zeros((1, 3)), single) if tell else None
    numbers = np.ones(1), np.ones((1, 3)), np.full((3, 1), 0.5), np.full(3, 0.2), np.zeros(1)
    return lob.Prior(ARMS, *numbers, kind or lob.Gaussian(1.0), features=effects)


@pytest.mark.parametrize("policy", [lob.LobBayes, lob.MixTS])
@pytest.mark.parametrize("kind", [lob.Gaussian(1.0), lob.Bernoulli()], ids=lambda k: k.name)
@pytest.mark.parametrize("half_life", [None, 20.0])
def test_the_first_choice_follows_features_and_rewards_overrule_them(
    policy: Any, kind: Any, half_life: float | None
) -> None:
    made = policy(prior(kind=kind), half_life=half_life)
    state = made.start(3, features={"club": ["a", "b", "b"], "age": [30, 30, 60]})
    assert isinstance(state, FadingState) == (half_life is not None)
    first = made.probabilities(state)
    assert first.argmax(axis=1).tolist()[:2] == [0, 1]
    assert first[2, 2] > first[1, 2]
    made.record(state, arms=[0] * 40 + [1] * 40, rewards=[0.0] * 40 + [1.0] * 40, users=[0] * 80)
    assert made.probabilities(state)[0, 0] < 0.1 < first[0, 0]


@pytest.mark.parametrize("policy", [lob.LobBayes, lob.MixTS])
def test_nothing_known_is_the_model_without_features(policy: Any) -> None:
    with_them, without = policy(prior()), policy(prior(tell=False))
    one, other = with_them.start(2, features=[{}, {"club": "z"}]), without.start(2)
    for made, state in ((with_them, one), (without, other)):
        made.record(state, arms=[0, 1, 2], rewards=[1.0, 0.5, 0.0], users=[0, 0, 1])
    np.testing.assert_array_equal(with_them.probabilities(one), without.probabilities(other))


def test_strict_states_take_features_too() -> None:
    policy = lob.LobBayes(prior(), trust=0.5)
    chances = policy.probabilities(policy.start(2, features={"club": ["a", "b"]}))
    assert chances.argmax(axis=1).tolist() == [0, 1]


def test_batches_are_their_users_one_by_one() -> None:
    policy = lob.LobBayes(prior())
    table = [{"club": "a"}, {"club": "b", "age": 22}, {"age": 39}]
    state = policy.start(3, features=table)
    policy.record(state, arms=[0, 2, 1], rewards=[1.0, 0.0, 2.0])
    together = policy.probabilities(state)
    for u in range(3):
        alone = policy.start(features=table[u : u + 1])
        policy.record(alone, [[0, 2, 1][u]], [[1.0, 0.0, 2.0][u]])
        np.testing.assert_array_equal(policy.probabilities(alone)[0], together[u])
        np.testing.assert_array_equal(policy.probabilities(state.take([u]))[0], together[u])


def test_merged_states_keep_what_either_knows() -> None:
    policy = lob.LobBayes(prior())
    here = policy.start(2, features=[{"club": "a"}, {}])
    there = policy.start(2, features=[{"club": "b"}, {"club": "b"}])
    merged = here.merge(there).features
    assert merged is not None
    np.testing.assert_array_equal(merged, [here.features[0], there.features[1]])  # type: ignore[index]


def test_an_agent_comes_back_with_its_features(tmp_path: Path) -> None:
    agent = lob.Agent(lob.LobBayes(prior()), seed=3, features={"club": "b", "age": 22})
    agent.record("tea", 0.4)
    agent.save(tmp_path / "agent.json")
    again = lob.Agent.load(tmp_path / "agent.json")
    assert again.probabilities() == agent.probabilities()
    assert [again.choose() for _ in range(5)] == [agent.choose() for _ in range(5)]


def test_explanations_say_what_features_did_before_and_after_rewards() -> None:
    agent = lob.Agent(lob.LobBayes(prior()), features={"club": "b", "age": 30})
    before = agent.explain()
    by = {row["arm"]: row["by features"] for row in before.arms}
    assert by["cake"] > 0.5 > 0 > by["tea"]
    note = next(note for note in before.notes if note.startswith("Features move this user"))
    assert "club: " in note
    assert "cake +" in note
    for _ in range(30):
        agent.record("cake", 0.0)
    after = {row["arm"]: row["by features"] for row in agent.explain().arms}
    assert 0 < after["cake"] < 0.2 * by["cake"]
    unknown = lob.Agent(lob.LobBayes(prior()))
    assert "Nothing is known of this user" in unknown.explain().notes[0]


def test_unknown_names_are_refused_and_features_in_vain_said_once() -> None:
    policy = lob.LobBayes(prior())
    with pytest.raises(lob.LobInputError, match=r"'clup'; did you mean 'club'\?"):
        policy.start(features={"clup": ["a"]})
    with pytest.raises(lob.LobInputError, match="2 rows for 1 users"):
        policy.start(features={"club": ["a", "b"]})
    without = lob.LobBayes(prior(tell=False))
    with pytest.warns(lob.LobWarning, match="knows no features, so club, age were sent in vain"):
        without.start(features={"club": ["a"], "age": [3]})
    without.start(features={"club": ["a"]})  # once is enough


def test_policies_that_know_no_users_take_no_notice() -> None:
    policy = lob.UCB(3, sigma=1.0)
    assert policy.start(2, features={"club": ["a", "b"]}).features is None
    popular = lob.Popular(prior())
    assert popular.choose(popular.start(2, features={"club": ["a", "b"]}), rng=0).shape == (2,)


def test_a_state_without_features_is_refused_where_they_are_needed() -> None:
    with pytest.raises(lob.LobInputError, match="the state has no features"):
        lob.LobBayes(prior()).probabilities(lob.LobBayes(prior(tell=False)).start())
