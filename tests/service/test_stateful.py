"""Any sequence of calls, against a plain dictionary."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from tests.service.conftest import Postgres

import lobandits as lob
from lobandits.service import Decision, DecisionService, new_id
from lobandits.service import errors as er

USERS = st.sampled_from(["ada", "bob", "eve", "o'hara\n"])
REWARDS = st.sampled_from([-1.5, 0.0, 0.25, 4.0])
MODELS = [("a", "b"), ("b", "a", "c"), ("c",)]


@dataclass
class Made:
    """What the plain model knows of a decision."""

    user: str
    decision: Decision
    reward: float | None = None
    expired: bool = False


@dataclass
class Plain:
    """The whole service as a dictionary."""

    decisions: dict[str, Made] = field(default_factory=dict)

    def record(self, key: str, reward: float) -> str:
        made = self.decisions.get(key)
        if made is None:
            return "unknown decision"
        if made.reward is None:
            made.reward = reward
            return "recorded"
        if made.expired:
            return "expired"
        return "already recorded" if made.reward == reward else "conflict"

    def cells(self, user: str) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for made in self.decisions.values():
            if made.user == user and made.reward is not None:
                found.setdefault(made.decision.arm, []).append(made.reward)
        return found


class ServiceMachine(RuleBasedStateMachine):
    """Decisions, rewards, erasures, new models and restarts in any order."""

    url: str
    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.plain = Plain()
        self.arms = MODELS[0]
        self.service = self.open(self.policy())
        for name in ("ada", "bob", "eve", "o'hara\n"):
            self.service.forget(name)

    def policy(self) -> lob.Policy:
        return lob.UCB(len(self.arms), 1.0, arms=self.arms)

    def open(self, policy: lob.Policy | None) -> DecisionService:
        return DecisionService(policy, self.url, reward_wait=0.0, default_reward=0.25)

    @rule(target=ids, users=st.lists(USERS, max_size=4))
    def decide(self, users: list[str]) -> Any:
        decisions = self.service.decide_many(users)
        for user, decision in zip(users, decisions, strict=True):
            assert decision.arm in self.arms
            assert decision.model == self.service.model
            self.plain.decisions[decision.id] = Made(user, decision)
        return multiple(*(decision.id for decision in decisions))

    @rule(target=ids, user=USERS, allowed=st.sets(st.sampled_from("abcd"), min_size=1))
    def decide_restricted(self, user: str, allowed: set[str]) -> Any:
        key = new_id()
        if not allowed <= set(self.arms):
            with pytest.raises(er.UnknownArmError):
                self.service.decide(user, sorted(allowed), id=key)
            return multiple()
        decision = self.service.decide(user, sorted(allowed), id=key)
        assert decision.arm in allowed
        self.plain.decisions[key] = Made(user, decision)
        return key

    @rule(key=ids, user=USERS)
    def repeat(self, key: str, user: str) -> None:
        made = self.plain.decisions.get(key)
        if made is None:
            return
        if made.user == user:
            assert self.service.decide(user, id=key) == made.decision
        else:
            with pytest.raises(er.IdConflictError):
                self.service.decide(user, id=key)

    @rule(rewards=st.lists(st.tuples(ids, REWARDS), max_size=4))
    def record(self, rewards: list[tuple[str, float]]) -> None:
        expected = [self.plain.record(*reward) for reward in rewards]
        assert self.service.record_many(rewards) == expected

    @rule()
    def expire(self) -> None:
        due = [made for made in self.plain.decisions.values() if made.reward is None]
        assert self.service.expire() == len(due)
        for made in due:
            made.reward, made.expired = 0.25, True

    @rule(user=USERS)
    def forget(self, user: str) -> None:
        gone = [key for key, made in self.plain.decisions.items() if made.user == user]
        assert self.service.forget(user) == len(gone)
        for key in gone:
            del self.plain.decisions[key]

    @rule(key=consumes(ids))
    def lose(self, key: str) -> None:
        """A client forgets an id."""

    @rule(arms=st.sampled_from(MODELS))
    def put_model(self, arms: tuple[str, ...]) -> None:
        self.arms = arms
        self.service.put_model(self.policy())

    @rule()
    def restart(self) -> None:
        self.service.close()
        self.service = self.open(None)

    @invariant()
    def statistics_agree(self) -> None:
        for user in ("ada", "bob", "eve", "o'hara\n"):
            cells = self.plain.cells(user)
            try:
                found = self.service.user(user)["arms"]
            except er.UnknownUserError:
                found = {}
                assert not any(made.user == user for made in self.plain.decisions.values())
            played = {arm: cell for arm, cell in found.items() if cell["plays"]}
            assert {arm: cell["plays"] for arm, cell in played.items()} == {
                arm: len(rewards) for arm, rewards in cells.items()
            }
            for arm, rewards in cells.items():
                assert played[arm]["mean"] == pytest.approx(sum(rewards) / len(rewards))

    @invariant()
    def the_log_agrees(self) -> None:
        log = {row.id: row for row in self.service.log(page=3)}
        assert log.keys() == self.plain.decisions.keys()
        for key, made in self.plain.decisions.items():
            row = log[key]
            assert (row.user, row.arm, row.probability, row.model) == (
                made.user,
                *made.decision[1:],
            )
            assert row.reward == made.reward
            assert (row.reward_time is None) == (made.reward is None or made.expired)

    def teardown(self) -> None:
        self.service.close()


def run(url: str, examples: int) -> None:
    machine = type("Machine", (ServiceMachine,), {"url": url})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=25)
    )


def test_any_sequence_of_calls_on_sqlite() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(f"sqlite:///{Path(folder) / 'lob.db'}?synchronous=normal", 25)


def test_any_sequence_of_calls_on_postgresql(postgres: Postgres) -> None:
    run(postgres.new_url(), 10)
