"""What a service promises, on SQLite and on PostgreSQL."""

import math
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pytest
from sqlalchemy import update
from tests.policies.cases import random_problems
from tests.service.conftest import MakeService
from tests.service.observers.test_control_group import ARMS, popular

import lobandits as lob
from lobandits.errors import LobError, LobInputError
from lobandits.service import DecisionService, new_id
from lobandits.service import errors as er
from lobandits.service.call_queue import DecisionCall, RewardCall
from lobandits.service.requests import DecisionRequest, RewardReport, read
from lobandits.service.store import tables
from lobandits.service.store.history import SETTLED, overdue
from lobandits.service.store.tables import microseconds

ODD_USERS = [
    "'; DROP TABLE users; --",
    'a"b',
    "line\nbreak",
    "\t",
    "😀" * 256,
    "é",
    "%s ? :x {}",
    " ",
]

SERVED = sorted(set(lob.POLICIES) - {"mucb"})

REFUSED: list[tuple[Any, str]] = [
    (lambda s: s.decide(""), "invalid_user"),
    (lambda s: s.decide("x" * 257), "invalid_user"),
    (lambda s: s.decide("a\0b"), "invalid_user"),
    (lambda s: s.decide("\ud800"), "invalid_user"),
    (lambda s: s.decide(5.5), "invalid_user"),
    (lambda s: s.decide("a", id="x"), "invalid_id"),
    (lambda s: s.decide("a", id="A" * 32), "invalid_id"),
    (lambda s: s.decide("a", allowed=[]), "invalid_allowed"),
    (lambda s: s.decide("a", allowed="tea"), "invalid_allowed"),
    (lambda s: s.decide("a", allowed=[1]), "invalid_allowed"),
    (lambda s: s.decide("a", allowed=["te"]), "unknown_arm"),
    (lambda s: s.record(new_id(), 1.0), "unknown_decision"),
    (lambda s: s.record("nonsense", 1.0), "unknown_decision"),
    (lambda s: s.record(7, 1.0), "invalid_decision"),
    (lambda s: s.record(s.decide("a").id, math.nan), "invalid_reward"),
    (lambda s: s.record(s.decide("a").id, math.inf), "invalid_reward"),
    (lambda s: s.record(s.decide("a").id, 1.1e40), "invalid_reward"),
    (lambda s: s.record(s.decide("a").id, 10**400), "invalid_reward"),
    (lambda s: s.record(s.decide("a").id, 10**5000), "invalid_reward"),
    (lambda s: s.record(s.decide("a").id, None), "invalid_reward"),
    (lambda s: s.record(s.decide("a").id, "1"), "invalid_reward"),
    (lambda s: s.user("nobody"), "unknown_user"),
    (lambda s: s.explain("nobody"), "unknown_user"),
]


def test_a_decision_and_its_reward(service: DecisionService) -> None:
    decision = service.decide("ada")
    assert decision.arm in ("tea", "milk", "juice")
    assert decision.probability == pytest.approx(1 / 3)
    assert decision.model == service.model
    assert service.user("ada")["plays"] == 0
    assert service.record(decision.id, 4.5) == "recorded"
    assert service.record(decision.id, 4.5) == "already recorded"
    with pytest.raises(er.RewardConflictError, match="another reward"):
        service.record(decision.id, 4.0)
    assert service.user("ada")["arms"][decision.arm] == {"plays": 1, "mean": 4.5}


def test_the_same_id_decides_once(service: DecisionService) -> None:
    key = new_id()
    first = service.decide("ada", id=key)
    assert first.id == key
    assert service.decide("ada", id=key) == first
    assert service.decide("ada", ["tea"], id=key) == first
    with pytest.raises(er.IdConflictError, match="another user"):
        service.decide("bob", id=key)
    assert len(list(service.log())) == 1


def test_decisions_are_those_of_the_policy(service: DecisionService) -> None:
    policy = service.policy
    state = policy.start(1)
    rng = np.random.default_rng(5)
    for _ in range(40):
        decision = service.decide("ada")
        arm = policy.arms.index(decision.arm)
        expected = policy.probabilities(state)[0, arm]
        assert decision.probability == pytest.approx(expected, rel=1e-9)
        reward = float(rng.normal(arm, 1.0))
        service.record(decision.id, reward)
        policy.record(state, [arm], [reward])


@pytest.mark.parametrize("name", SERVED)
def test_allowed_arms_have_the_propensities_of_the_policy(
    name: str, make_service: MakeService
) -> None:
    policy = shared_policy(name, n_arms=6)
    service = make_service(policy, seed=3)
    rng = np.random.default_rng(0)
    state = policy.start(1)
    for d in service.decide_many(["u"] * 30):
        reward = float(rng.normal())
        service.record(d.id, reward)
        policy.record(state, [policy.arms.index(d.arm)], [reward])
    requests: list[Any] = [{"user": "u", "allowed": ["5", "1", "4", "4"]}, "u"] * 300
    answers = service.decide_many(requests)
    for some, asked in (([1, 4, 5], answers[::2]), (range(6), answers[1::2])):
        allowed = np.isin(np.arange(6), some)
        expected = dict(zip(policy.arms, policy.probabilities(state, allowed)[0], strict=True))
        for answer in asked:
            assert int(answer.arm) in some
            assert answer.probability == pytest.approx(expected[answer.arm], rel=1e-6, abs=1e-12)
        for arm, p in expected.items():
            share = sum(a.arm == arm for a in asked) / 300
            assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / 300) + 5 / 300


@pytest.mark.parametrize(
    "name", sorted({*SERVED} - {"ucb", "ts", "toparms", "popular", "mixts", "lobbayes"})
)
def test_what_was_learned_from_other_arms_decides_among_the_allowed_ones(
    name: str, make_service: MakeService
) -> None:
    """Rewards of arms that are not allowed settle the state; it ranks 3 above 1, both unplayed."""
    orders = lob.LatentOrders.from_rankings([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]])
    means = np.array([[5.0, 4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    known = FixedKnowledge(5, 1.0, orders, means)
    service = make_service(lob.make_policy(name, known), seed=2)
    ends = [{"user": "u", "allowed": [arm]} for arm in ("0", "4")] * 15
    rewards = {"0": 1.0, "4": 5.0}
    service.record_many([(d.id, rewards[d.arm]) for d in service.decide_many(ends)])
    played = service.decide_many([{"user": "u", "allowed": ["1", "3"]}] * 200)
    assert sum(decision.arm == "3" for decision in played) >= 195


class FixedKnowledge(NamedTuple):
    """What policies may know."""

    n_arms: int
    sigma: float
    orders: lob.LatentOrders
    state_means: Any


def test_many_choice_sets_are_one_call(
    service: DecisionService, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, ...]] = []
    odds = lob.LobTS.odds

    def counted(policy: Any, state: Any, allowed: Any) -> Any:
        asked.append(allowed.shape)
        return odds(policy, state, allowed)

    monkeypatch.setattr(lob.LobTS, "odds", counted)
    sets = [["tea"], ["tea", "milk"], None, ["juice", "milk"]]
    answers = service.decide_many([{"user": "u", "allowed": allowed} for allowed in sets])
    assert asked == [(4, 3)]
    assert [a.arm in (s or "tea milk juice") for a, s in zip(answers, sets, strict=True)] == [
        True
    ] * 4
    service.decide_many(["u", "v"])
    assert asked[1] == (1, 3)


def shared_policy(name: str, n_arms: int) -> lob.Policy:
    """Return a policy of 3 random states that all users share."""
    problems = random_problems(n_arms, 3, 1.0, 1.0, None)
    return lob.make_policy(name, problems)


def test_batches_of_users_known_and_new(service: DecisionService) -> None:
    names = [f"user {i % 7}" for i in range(20)]
    decisions = service.decide_many(names)
    assert len({d.id for d in decisions}) == 20
    assert service.record_many([(d.id, 1.0) for d in decisions]) == ["recorded"] * 20
    rows = list(service.log())
    assert [row.user for row in rows] == names
    assert [row.id for row in rows] == [d.id for d in decisions]
    assert sum(service.user(f"user {i}")["plays"] for i in range(7)) == 20
    assert service.decide_many([]) == []
    assert service.record_many([]) == []


def test_a_batch_is_all_or_nothing(service: DecisionService) -> None:
    key = new_id()
    service.decide("ada", id=key)
    for wrong in ({"user": "bob", "id": key}, {"user": "bob", "allowed": ["beer"]}, {"user": ""}):
        with pytest.raises(LobInputError):
            service.decide_many(["new", wrong])
    twice = new_id()
    with pytest.raises(er.IdConflictError):
        service.decide_many([{"user": "a", "id": twice}, {"user": "b", "id": twice}])
    assert [row.user for row in service.log()] == ["ada"]
    same = service.decide_many([{"user": "a", "id": twice}, {"user": "a", "id": twice}])
    assert same[0] == same[1]


def test_rewards_of_a_batch_have_a_status_each(service: DecisionService) -> None:
    one, two = service.decide_many(["a", "b"])
    service.record(two.id, 2.0)
    rewards: list[Any] = [(one.id, 1.0), {"decision": one.id, "reward": 1}, (one.id, 3.0)]
    rewards += [(two.id, 2), (two.id, 0), (new_id(), 1.0), ("nonsense", 1.0)]
    statuses = ["recorded", "already recorded", "conflict", "already recorded", "conflict"]
    assert service.record_many(rewards) == [*statuses, "unknown decision", "unknown decision"]
    assert service.user("a")["plays"] == 1


def test_calls_run_together_have_outcomes_of_their_own(service: DecisionService) -> None:
    before = service.decide("ada")
    requests = ({"user": "x"}, {"user": "y", "allowed": ["beer"]}, {"user": "z", "id": before.id})
    good, bad, stolen = (DecisionCall(read(DecisionRequest, [request])) for request in requests)
    reports = ({"decision": key, "reward": 1.0} for key in (before.id, "nonsense"))
    reward, unknown = (RewardCall(read(RewardReport, [report])) for report in reports)
    service.run([good, bad, stolen, reward, unknown])
    assert good.result()[0].model == service.model
    with pytest.raises(er.UnknownArmError, match="unknown arm 'beer'"):
        bad.result()
    with pytest.raises(er.IdConflictError):
        stolen.result()
    assert (reward.result(), unknown.result()) == (["recorded"], ["unknown decision"])


def test_users_may_have_any_name(service: DecisionService) -> None:
    for user in ODD_USERS:
        decision = service.decide(user)
        service.record(decision.id, 1.0)
        assert service.user(user)["user"] == user
        assert service.explain(user)["plays"] == 1
        assert [row.user for row in service.log()] == [user]
        assert service.forget(user) == 1


def test_what_is_refused_has_a_code(service: DecisionService) -> None:
    for call, code in REFUSED:
        with pytest.raises(LobError) as caught:
            call(service)
        assert caught.value.code == code  # type: ignore[attr-defined]
    assert all(row.reward is None for row in service.log())


def test_wrong_shapes_are_refused(service: DecisionService) -> None:
    for requests in ("ada", {"user": "ada"}, [{"name": "ada"}], [3.5], 7):
        with pytest.raises(LobInputError):
            service.decide_many(requests)  # type: ignore[arg-type]
    for reward in ({"id": "x"}, ("0" * 32, 1.0, 2.0), ("0" * 32,), 7):
        with pytest.raises(LobInputError, match="a reward must have the fields decision, reward"):
            service.record_many([reward])  # type: ignore[list-item]


def test_forgetting_a_user(service: DecisionService) -> None:
    mine, other = service.decide_many(["ada", "bob"])
    pending = service.decide("ada")
    service.record_many([(mine.id, 1.0), (other.id, 2.0)])
    assert service.forget("ada") == 2
    assert service.forget("ada") == 0
    with pytest.raises(er.UnknownUserError):
        service.user("ada")
    assert service.record_many([(mine.id, 1.0), (pending.id, 1.0)]) == ["unknown decision"] * 2
    assert [row.user for row in service.log()] == ["bob"]
    assert service.user("bob")["plays"] == 1
    again = service.decide("ada")
    service.record(again.id, 3.0)
    assert service.user("ada")["plays"] == 1


def test_explanations_are_plain_and_complete(service: DecisionService) -> None:
    for decision in service.decide_many(["ada"] * 6):
        service.record(decision.id, float(len(decision.arm)))
    told = service.explain("ada")
    assert [row["arm"] for row in told["why"]] == ["tea", "milk", "juice"]
    assert sum(row["probability"] for row in told["why"]) == pytest.approx(1)
    assert sum(row["posterior"] for row in told["states"]) == pytest.approx(1)
    assert told["model"] == service.model
    assert (told["user"], told["plays"]) == ("ada", 6)


def test_the_log_pages_and_continues(service: DecisionService) -> None:
    decisions = service.decide_many([f"u{i}" for i in range(25)])
    service.record(decisions[3].id, -1.25)
    rows = list(service.log(page=4))
    assert [row.id for row in rows] == [d.id for d in decisions]
    assert [row.id for row in service.log(after=rows[19].number)] == [d.id for d in decisions[20:]]
    row = rows[3]
    assert (row.reward, row.probability, row.pscore) == (
        -1.25,
        row.pscore,
        decisions[3].probability,
    )
    assert row.arm == ("tea", "milk", "juice")[row.action]
    assert row.reward_time is not None
    assert row.time <= row.reward_time
    assert rows[4].reward is None
    assert row.model == service.model


def test_default_rewards(make_service: MakeService, policy: lob.LobTS) -> None:
    service = make_service(policy, reward_wait=0.0, default_reward=-1.0)
    one, two = service.decide_many(["a", "b"])
    service.record(one.id, 5.0)
    assert service.expire() == 1
    assert service.expire() == 0
    assert service.user("b")["arms"][two.arm] == {"plays": 1, "mean": -1.0}
    with pytest.raises(er.DecisionExpiredError, match="too late"):
        service.record(two.id, 5.0)
    with pytest.raises(er.DecisionExpiredError, match="too late"):
        service.record(two.id, -1.0)
    assert service.record(one.id, 5.0) == "already recorded"
    rows = list(service.log())
    assert (rows[1].reward, rows[1].reward_time) == (-1.0, None)
    patient = make_service(None, reward_wait=3600)
    patient.decide("c")
    assert patient.expire() == 0
    assert make_service(None).expire() == 0


def test_many_decisions_expire(make_service: MakeService, policy: lob.LobTS) -> None:
    service = make_service(policy, reward_wait=0.0)
    decisions = service.decide_many([f"u{i}" for i in range(4500)])
    service.record_many([(d.id, 1.0) for d in decisions[::9]])
    assert service.expire() == 4000
    assert service.expire() == 0
    assert service.decide("late").arm
    assert service.expire() == 1


def test_decisions_from_the_future_stop_nobody(
    make_service: MakeService, policy: lob.LobTS
) -> None:
    """A clock was a day ahead for a while; its decisions expire once their time has come."""
    service = make_service(policy, reward_wait=0.0)
    made = service.decide_many([f"u{i}" for i in range(5000)])
    day, ahead = 86_400_000_000, [bytes.fromhex(decision.id) for decision in made[10:13]]
    with service.store.engine.begin() as connection:
        known = tables.decisions.c.id.in_(ahead)
        future = tables.decisions.c.time + day
        connection.execute(update(tables.decisions).where(known).values(time=future))
    assert service.expire() == 4997
    later = microseconds() + 2 * SETTLED  # all that is not ahead is settled now
    assert not list(overdue(service.store, later, later))
    service.decide("another")
    assert service.expire() == 1
    tomorrow = later + day
    assert [sorted(page) for page in overdue(service.store, tomorrow, tomorrow)] == [sorted(ahead)]
    service.record_many([(decision.id, 1.0) for decision in made[10:13]])
    assert not list(overdue(service.store, tomorrow, tomorrow))


def test_an_interrupted_search_for_late_rewards_goes_on(service: DecisionService) -> None:
    service.decide_many([f"u{i}" for i in range(4500)])
    later = microseconds() + 2 * SETTLED
    first = islice(overdue(service.store, later), 2)
    assert [len(page) for page in first] == [2000, 2000]
    assert [len(page) for page in overdue(service.store, later)] == [2000, 500]
    assert not list(overdue(service.store, later))


@pytest.mark.parametrize("name", SERVED)
def test_every_policy_explains_and_reports(name: str, make_service: MakeService) -> None:
    service = make_service(shared_policy(name, n_arms=4))
    for decision in service.decide_many(["u"] * 5):
        service.record(decision.id, 1.0)
    told = service.explain("u")
    assert len(told["why"]) == 4
    bare = ("ucb", "ts", "popular")
    assert len(told["states"]) == (0 if name in bare else 3)
    report = service.activity()["certainty"]
    assert report["of"] == ("arm" if name in bare else "state")
    assert 0 < report["chances"][0] <= 1


@pytest.mark.parametrize("name", SERVED)
def test_the_largest_rewards_break_nothing(name: str, make_service: MakeService) -> None:
    service = make_service(shared_policy(name, n_arms=4))
    for i in range(7):
        service.record(service.decide("u").id, (-1) ** i * 1e40)
        service.record(service.decide("v").id, 1e40)
    assert service.explain("u")["plays"] == service.explain("v")["plays"] == 7
    assert all(0 < chance <= 1 for chance in service.activity()["certainty"]["chances"])


def test_policies_that_remember_more_are_refused(make_service: MakeService) -> None:
    orders = lob.LatentOrders.from_rankings([[0, 1], [1, 0]])
    for policy in (
        lob.MUCB(np.eye(2), sigma=1.0, horizon=10),
        lob.LobTS(orders, 1.0, project_every=5),
        lob.LobUCB(orders, 1.0, refresh_every=5),
    ):
        with pytest.raises(LobInputError, match="more than counts and sums"):
            make_service(policy)
    with pytest.raises(LobInputError, match="users of its own"):
        make_service(lob.LobTS(lob.UserOrders.stack([orders]), 1.0))
    for arm in ("nul\0", "x" * 257):
        with pytest.raises(LobInputError, match="names of arms of up to 256 characters"):
            make_service(lob.UCB(1, 1.0, arms=(arm,)))
    with pytest.raises(LobInputError, match="no model yet"):
        make_service(None)


def test_the_floor_adds_to_every_allowed_arm(make_service: MakeService) -> None:
    service = make_service(popular(*ARMS), explore=0.3, seed=0)
    made = service.decide_many([f"user {i}" for i in range(2_000)])
    chances = {d.arm: d.probability for d in made}
    assert chances == pytest.approx({"tea": 0.8, "milk": 0.1, "juice": 0.1})
    for arm, chance in chances.items():
        share = sum(d.arm == arm for d in made) / 2_000
        assert abs(share - chance) < 4 * math.sqrt(chance * (1 - chance) / 2_000)
    few = service.decide_many([{"user": f"u{i}", "allowed": ["milk", "juice"]} for i in range(50)])
    assert {d.arm: d.probability for d in few} == pytest.approx({"milk": 0.85, "juice": 0.15})
    told = {row["arm"]: row["probability"] for row in service.explain("user 1")["why"]}
    assert told == pytest.approx({"tea": 0.8, "milk": 0.1, "juice": 0.1})
    with pytest.raises(lob.LobInputError, match="explore"):
        make_service(None, explore=1.5)
