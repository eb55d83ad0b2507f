"""A policy outside of the package: one file, and everything takes it."""

import subprocess
import sys
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import lobandits as lob
from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.errors import LobInputError, LobWarning
from lobandits.policies import registry

SOURCE = """
from dataclasses import dataclass

import numpy as np

import lobandits as lob
from lobandits.policies import OrderPolicy


@dataclass(frozen=True)
class Greedy(OrderPolicy):
    '''Play the top of the order with the least loss; now and then any allowed arm.'''

    name = "greedy"
    explore: float = 0.05

    def odds(self, state, allowed):
        means = np.nan_to_num(state.means)
        losses = lob.projection_losses(means, state.counts, self.orders).min(axis=1)
        losses = np.where(allowed, losses, np.inf)
        best = losses == losses.min(axis=1, keepdims=True)
        return allowed * (best * (1 - self.explore) + self.explore)
"""
ORDERS = lob.LatentOrders.from_rankings([["a", "b", "c"], ["c", "b", "a"]], arms=["a", "b", "c"])


def define(text: str = SOURCE, name: str = "out_of_tree") -> ModuleType:
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), vars(module))
    return module


@pytest.fixture
def greedy(monkeypatch: pytest.MonkeyPatch) -> type[lob.Policy]:
    monkeypatch.setattr(registry, "_classes", dict(registry._classes))
    cls: type[lob.Policy] = define().Greedy
    return cls


def test_the_file_is_short() -> None:
    assert len(SOURCE.strip().splitlines()) <= 40


def test_it_is_known_by_being_defined(greedy: type[lob.Policy]) -> None:
    assert lob.POLICIES["greedy"] is greedy
    assert list(lob.POLICIES)[-1] == "greedy"
    problems = lob.Synthetic(n_arms=4, n_states=3).sample(5, seed=0)
    policy = lob.make_policy("greedy(explore=0.2)", problems)
    assert (policy.label, policy.n_users) == ("Greedy", 5)


def test_it_simulates(greedy: type[lob.Policy]) -> None:
    env = lob.Synthetic(n_arms=4, n_states=3)
    result = lob.simulate(env, ["greedy", "ucb"], horizon=60, n_users=24, progress=False)
    assert result.policies == ("greedy", "ucb")
    late = result.regret["greedy"][:, 30:].mean()
    assert late < result.regret["greedy"][:, :2].mean() / 2  # it learns


def test_an_agent_saves_and_loads_it(greedy: type[lob.Policy], tmp_path: Path) -> None:
    agent = lob.Agent(greedy(ORDERS, 1.0), seed=0)  # type: ignore[call-arg, arg-type]
    for _ in range(5):
        agent.record(agent.choose(), 1.0)
    agent.save(tmp_path / "agent.json")
    other = lob.Agent.load(tmp_path / "agent.json")
    assert [agent.choose() for _ in range(9)] == [other.choose() for _ in range(9)]


def test_a_service_serves_it_and_starts_again(greedy: type[lob.Policy], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lob.db'}"
    for start in (True, False):
        policy = greedy(ORDERS, 1.0) if start else None  # type: ignore[call-arg, arg-type]
        with lob.DecisionService(policy, lob.open_store(url)) as service:
            decision = service.decide("ada", allowed=["a", "b"])
            service.record(decision.id, 2.0)
            assert decision.arm in ("a", "b")
            plays = sum(arm["plays"] for arm in service.user("ada")["arms"].values())
            assert plays == (1 if start else 2)


def test_commands_import_it(tmp_path: Path) -> None:
    file = tmp_path / "greedy_policy.py"
    file.write_text(SOURCE)
    words = ["simulate", "--import", str(file), "--policies", "greedy,ucb"]
    words += ["--users", "16", "--horizon", "20"]
    command = [sys.executable, "-m", "lobandits", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "greedy" in done.stdout


def test_a_second_class_of_the_same_name_is_refused(greedy: type[lob.Policy]) -> None:
    with pytest.raises(LobInputError, match=r"'greedy': out_of_tree\.Greedy.*and other\.Greedy"):
        define(name="other")
    assert lob.POLICIES["greedy"] is greedy
    again = define().Greedy  # the same place, as when a cell of a notebook runs again
    assert lob.POLICIES["greedy"] is again


def test_what_cannot_come_back_is_not_written(greedy: type[lob.Policy], tmp_path: Path) -> None:
    changed = SOURCE.replace('"greedy"', '"forgetful"').replace("Greedy", "Forgetful")
    changed += "\n    def to_dict(self):\n        return {**super().to_dict(), 'explore': 0.5}\n"
    policy = define(changed).Forgetful(ORDERS, 1.0)
    path = tmp_path / "agent.json"
    with pytest.raises(LobInputError, match=r"comes back as Forgetful.*explore=0\.5"):
        lob.Agent(policy, seed=0).save(path)
    assert not path.exists()
    url = f"sqlite:///{tmp_path / 'lob.db'}"
    first = greedy(ORDERS, 1.0)  # type: ignore[call-arg, arg-type]
    with lob.DecisionService(first, lob.open_store(url)) as service:
        model = service.model
        with pytest.raises(LobInputError, match="cannot be stored"):
            service.put_model(policy)
        assert service.model == model
    with lob.DecisionService(None, lob.open_store(url)) as service:
        assert service.model == model


def test_entry_points_are_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "_classes", dict(registry._classes))
    (tmp_path / "plugged_in.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    points = [
        EntryPoint("broken", "no_such_module", registry.GROUP),
        EntryPoint("greedy", "plugged_in", registry.GROUP),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    registry.load_plugins.cache_clear()
    with pytest.warns(LobWarning, match="'no_such_module' cannot be loaded"):
        assert "greedy" in lob.POLICIES
    registry.load_plugins.cache_clear()


def test_arms_without_names_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_classes", dict(registry._classes))

    @dataclass(frozen=True)
    class Even(lob.Policy):
        name = "even"
        n_arms: int

        def odds(self, state: lob.State, allowed: BoolArray) -> FloatArray:
            return np.broadcast_to(allowed, state.counts.shape).astype(np.float64)

    @dataclass(frozen=True)
    class Unknown(Even):
        name = "unknown"
        n_arms: int = field(init=False)

    assert lob.Agent(Even(3), seed=0).choose() in ("0", "1", "2")
    with pytest.raises(LobInputError, match="n_arms must be a whole number"):
        Even(0)
    with pytest.raises(LobInputError, match="Unknown needs n_arms"):
        Unknown()
