import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.policies.cases import Problems, random_problems

from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.policies import MTS, POLICIES, UCB, Agent, Policy, make_policy
from lobandits.policies.agent import _plain

ARMS = ("tea", "coffee", "milk", "water")
MEANS = dict(zip(ARMS, (0.2, 0.9, 0.4, 0.1), strict=True))


def make(name: str, **options: Any) -> Policy:
    state_means = random_problems(4, 3, 1.0, 1.0, None).state_means
    orders = LatentOrders.from_means(state_means, arms=ARMS)
    return make_policy(name, Problems(4, 1.0, orders, state_means), horizon=100, **options)


def play(agent: Agent, rounds: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    played = []
    for _ in range(rounds):
        played.append(agent.choose())
        agent.record(played[-1], MEANS[played[-1]] + rng.normal())
    return played


@pytest.mark.parametrize("name", POLICIES)
def test_a_reloaded_agent_makes_the_same_choices(name: str, tmp_path: Path) -> None:
    agent = Agent(make(name), seed=3)
    assert set(play(agent, 17)) <= set(ARMS)
    agent.save(tmp_path / "agent.json")
    again = Agent.load(tmp_path / "agent.json")
    assert again.policy == agent.policy
    assert again.probabilities() == agent.probabilities()
    assert play(again, 40, seed=1) == play(agent, 40, seed=1)
    np.testing.assert_array_equal(again.state.sums, agent.state.sums)


@pytest.mark.parametrize("rounds", [0, 1, 9, 10, 17])
@pytest.mark.parametrize("option", ["lobts project_every", "lobucb refresh_every"])
def test_a_reloaded_agent_keeps_what_is_stale(option: str, rounds: int, tmp_path: Path) -> None:
    name, every = option.split()
    agent = Agent(make(name, **{every: 10}), seed=3)
    play(agent, rounds)
    agent.save(tmp_path / "agent.json")
    again = Agent.load(tmp_path / "agent.json")
    assert again.probabilities() == agent.probabilities()
    assert play(again, 40, seed=1) == play(agent, 40, seed=1)


@pytest.mark.parametrize("name", POLICIES)
def test_an_agent_is_a_batch_of_one(name: str) -> None:
    policy, rng, rewards = make(name), np.random.default_rng(3), np.random.default_rng(0)
    state = policy.start()
    expected = []
    for _ in range(30):
        arm = policy.choose(state, rng)
        expected.append(ARMS[arm[0]])
        policy.record(state, arm, MEANS[expected[-1]] + rewards.normal())
    agent = Agent(policy, seed=3)
    assert play(agent, 30) == expected
    assert agent.state.sums.tolist() == state.sums.tolist()
    assert agent.state.carries.tolist() == state.carries.tolist()


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"])
def test_any_generator_is_saved(kind: str, tmp_path: Path) -> None:
    agent = Agent(make("ts"), seed=np.random.Generator(getattr(np.random, kind)(7)))
    play(agent, 5)
    agent.save(tmp_path / "agent.json")
    assert play(Agent.load(tmp_path / "agent.json"), 20) == play(agent, 20)


def test_files_are_strict_json_with_one_line_per_field(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    data = saved(path)
    assert list(data) == ["format", "version", "policy", "state", "random"]
    assert len(path.read_text().splitlines()) == 7


def test_numbers_that_json_lacks_are_kept() -> None:
    plain = _plain({"a": np.array([[1.0, np.inf], [-np.inf, np.nan]])})
    text = json.dumps(plain, allow_nan=False)
    back = np.asarray(json.loads(text)["a"], np.float64)
    np.testing.assert_equal(back, [[1.0, np.inf], [-np.inf, np.nan]])


def test_probabilities_and_explanations_have_names() -> None:
    agent = Agent(make("ucb"))
    agent.record("tea", 1.0)
    assert agent.probabilities() == {
        "tea": 0.0,
        "coffee": pytest.approx(1 / 3),
        "milk": pytest.approx(1 / 3),
        "water": pytest.approx(1 / 3),
    }
    assert "coffee" in str(agent.explain())
    assert agent.arms == ARMS
    assert repr(agent) == "Agent(UCB(n_arms=4, sigma=1.0), plays=1)"


def test_arms_may_be_numbers() -> None:
    agent = Agent(make("ucb"))
    agent.record(2, 1.0)
    assert agent.state.counts.tolist() == [[0, 0, 1, 0]]


@pytest.mark.parametrize(
    ("arm", "reward", "message"),
    [
        ("cofee", 1.0, "did you mean 'coffee'"),
        ("xyz", 1.0, "unknown arm 'xyz'"),
        (4, 1.0, "out of range"),
        (["tea"], 1.0, "out of range"),
        ("tea", np.nan, "reward is nan"),
        ("tea", -np.inf, "reward is -inf"),
        ("tea", None, "reward is None"),
        ("tea", "1.0", "reward is '1.0'"),
        ("tea", np.float32(np.inf), "reward is np.float32"),
        ("tea", 1 + 1j, "reward is"),
        ("tea", np.ones(2), "reward is array"),
        ("tea", 10**400, "reward is 1000"),
    ],
)
def test_what_is_refused_is_not_recorded(arm: Any, reward: Any, message: str) -> None:
    agent = Agent(make("ucb"))
    with pytest.raises(LobInputError, match=message):
        agent.record(arm, reward)
    assert agent.state.plays.tolist() == [0]


def test_an_agent_is_one_user(tmp_path: Path) -> None:
    policy = MTS(np.random.default_rng(0).normal(size=(3, 2, 4)), 1.0, arms=ARMS)
    with pytest.raises(LobInputError, match="one user"):
        Agent(policy)
    agent = Agent(policy.take([1]))
    play(agent, 5)
    agent.save(tmp_path / "agent.json")
    assert play(Agent.load(tmp_path / "agent.json"), 9) == play(agent, 9)


@pytest.mark.parametrize("reward", [2, np.float32(2), np.int8(2), np.array(2.0), True + 1])
def test_rewards_may_be_any_real_number(reward: Any) -> None:
    agent = Agent(make("ucb"))
    agent.record("tea", reward)
    assert agent.state.sums[0, 0] == 2.0


@pytest.mark.parametrize("policy", [None, UCB])
def test_an_agent_needs_a_policy_of_rewards(policy: Any) -> None:
    with pytest.raises(LobInputError, match="needs a policy of rewards"):
        Agent(policy)


def random_state(bits: np.random.BitGenerator) -> dict[str, Any]:
    """Return a generator's state as it stands in a file."""
    state: dict[str, Any] = _plain(bits.state)
    return state


PHILOX, TWISTER = random_state(np.random.Philox(0)), random_state(np.random.MT19937(0))


def saved(path: Path) -> dict[str, Any]:
    agent = Agent(make("toparms"))
    play(agent, 5)
    agent.save(path)
    data: dict[str, Any] = json.loads(path.read_text())
    return data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "format is 'other'; expected 'lobandits.agent', a saved agent"),
        ({"version": 2}, "version 2 is newer than 1"),
        ({"policy": {}}, "field 'policy'"),
        ({"policy": {"policy": "toparms", "sigma": 1.0}}, "field 'policy' is wrong.*'orders'"),
        ({"policy": {"policy": "toparms", "sigma": 1.0, "orders": 3}}, "field 'policy'"),
        ({"state": {"counts": [[1]]}}, "field 'state'"),
        ({"state": 3}, "field 'state'"),
        ({"random": {"bit_generator": "Dice"}}, "field 'random' is wrong: unknown generator"),
        ({"random": {"bit_generator": "PCG64"}}, "field 'random'"),
        ({"random": {"bit_generator": "PCG64", "state": {"state": -1, "inc": 2}}}, "'random'"),
        ({"random": []}, "field 'random'"),
        ({"random": PHILOX | {"buffer_pos": -1}}, "'random' is wrong: buffer_pos is -1"),
        ({"random": PHILOX | {"buffer": []}}, "field 'random'"),
        ({"random": TWISTER | {"state": TWISTER["state"] | {"pos": 10**8}}}, "pos is 100000000"),
    ],
)
def test_damaged_files_are_refused_by_name(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "agent.json"
    path.write_text(json.dumps(saved(path) | change))
    with pytest.raises(LobInputError, match=message) as caught:
        Agent.load(path)
    assert "agent.json" in str(caught.value)


def test_incomplete_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    data = saved(path)
    for field in data.keys() - {"format"}:
        path.write_text(json.dumps({key: data[key] for key in data if key != field}))
        with pytest.raises(LobInputError, match=f"'{field}' is missing"):
            Agent.load(path)
    path.write_text(json.dumps(data)[:-30])
    with pytest.raises(LobInputError, match=r"agent\.json"):
        Agent.load(path)
    with pytest.raises(LobInputError, match="cannot read"):
        Agent.load(tmp_path / "none.json")


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    before = saved(path)
    agent = Agent(UCB(2, 1.0))
    agent.rng = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        agent.save(path)
    assert json.loads(path.read_text()) == before
    assert [file.name for file in tmp_path.iterdir()] == ["agent.json"]
    with pytest.raises(LobInputError, match="cannot write"):
        saved(tmp_path / "no such folder" / "agent.json")
