"""The control group and its comparison, on every kind of store."""

import math
import statistics
from typing import Any

import numpy as np
import pytest
from tests.service.conftest import MakeService
from tests.service.test_comparison import plain_band

import lobandits as lob
from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.service import Control, DecisionService, deciding
from lobandits.service.observers import control_group
from lobandits.service.observers.control_group import ControlGroup, StoredComparison
from lobandits.service.served_policy import encoded, odds_of

ARMS = ("tea", "milk", "juice")


def popular(*best: str) -> lob.Policy:
    """Return a policy that always plays the first of ``best``."""
    means, own = -np.arange(float(len(best)))[None], np.ones(len(best))
    prior = lob.Prior(best, np.ones(1), means, own[:, None], own, np.zeros(1), lob.Gaussian(1.0))
    return lob.Popular(prior)


@pytest.fixture
def tried(make_service: MakeService, policy: lob.LobTS) -> DecisionService:
    return make_service(policy, control=Control(popular(*ARMS), 0.3, rewards=2), seed=1)


def group(bound: float, key: bytes = b"k" * 16) -> ControlGroup:
    policy = lob.UCB(3, sigma=1.0, arms=ARMS)
    return ControlGroup(StoredComparison(1, encoded(policy)[0], bound, 10, key, 0))


def test_a_hash_gives_the_share_and_stays() -> None:
    users = [f"user {i}" for i in range(20_000)]
    held = list(map(group(0.1).holds, users))
    assert abs(sum(held) / len(users) - 0.1) < 4 * math.sqrt(0.09 / len(users))
    assert held == list(map(group(0.1).holds, users))
    other = list(map(group(0.1, b"x" * 16).holds, users))
    assert abs(sum(a and b for a, b in zip(held, other, strict=True)) / len(users) - 0.01) < 0.003


def test_each_group_is_decided_by_its_policy(tried: DecisionService) -> None:
    users = [f"user {i}" for i in range(60)]
    decisions = tried.decide_many(users)
    rows = list(tried.log())
    groups = {row.user: row.group for row in rows}
    assert 5 < sum(g == "control" for g in groups.values()) < 35
    for row, decision in zip(rows, decisions, strict=True):
        assert row.probability == decision.probability
        if row.group == "control":
            assert (row.arm, row.probability) == ("tea", 1.0)
        else:
            assert row.group == "model"
            assert row.probability == pytest.approx(1 / 3)


def test_users_stay_in_their_group_across_processes_and_restarts(
    make_service: MakeService, policy: lob.LobTS, tried: DecisionService
) -> None:
    users = [f"user {i}" for i in range(40)]
    tried.decide_many(users)
    again = make_service(None, control=True)
    again.decide_many(users)
    same = make_service(policy, control=Control(popular(*ARMS), 0.3, rewards=2))
    same.decide_many(users)
    found: dict[str, set[str | None]] = {}
    for row in tried.log():
        found.setdefault(row.user, set()).add(row.group)
    assert len(found) == 40
    assert all(len(groups) == 1 for groups in found.values())
    off = make_service(None)
    off.decide("user 1")
    assert [row.group for row in off.log()][-1] is None


def naive_report(service: DecisionService, rewards: int) -> dict[str, dict[str, Any]]:
    """Add up the log by eye."""
    report = {}
    for name in ("model", "control"):
        rows = [row for row in service.log() if row.group == name]
        values: dict[str, list[float]] = {}
        for row in sorted(rows, key=lambda row: (row.reward_time is None, row.reward_time)):
            if row.reward is not None:
                values.setdefault(row.user, []).append(row.reward)
        given = [reward for user in values.values() for reward in user]
        report[name] = {
            "users": len(values),
            "decisions": len(rows),
            "rewards": len(given),
            "total": math.fsum(given),
            "counted": [sum(v[:rewards]) / rewards for v in values.values() if len(v) >= rewards],
        }
    return report


def test_the_comparison_is_that_of_the_log(make_service: MakeService, policy: lob.LobTS) -> None:
    tried = make_service(policy, control=Control(popular(*ARMS), 0.5, rewards=2), seed=1)
    rng = np.random.default_rng(0)
    for turn in range(3):
        made = tried.decide_many([f"user {i}" for i in range(250)])
        given = made if turn < 2 else made[:100]
        for part in (given[:90], given[90:]):
            tried.record_many([(d.id, float(rng.random() < 0.6)) for d in part])
    found, naive = tried.comparison(), naive_report(tried, rewards=2)
    assert found["control"] == {
        "policy": "popular", "share": 0.5, "rewards": 2, "since": found["control"]["since"],
    }  # fmt: skip
    for name, group in found["groups"].items():
        mine = naive[name]
        assert {k: group[k] for k in ("users", "decisions", "rewards")} == {
            k: mine[k] for k in ("users", "decisions", "rewards")
        }
        assert group["counted"] == len(mine["counted"])
        assert group["total"] == pytest.approx(mine["total"])
        assert group["per_decision"] == pytest.approx(mine["total"] / mine["rewards"])
        assert group["per_user"] == pytest.approx(mine["total"] / mine["users"])
        assert group["mean"] == pytest.approx(statistics.fmean(mine["counted"]))
    band = plain_band(naive["model"]["counted"], naive["control"]["counted"])
    told = found["difference"]
    assert (told["estimate"], told["low"], told["high"]) == pytest.approx(band)
    line = found["over_time"]
    assert line["low"][-1] == told["low"]
    assert len(line["times"]) == len(line["difference"]) <= 61
    assert "first 2 rewards" in found["assumption"]


def test_another_control_begins_another_comparison(
    make_service: MakeService, tried: DecisionService
) -> None:
    for decision in tried.decide_many([f"user {i}" for i in range(30)]):
        tried.record(decision.id, 1.0)
    late = tried.decide("user 1")
    fresh = make_service(None, control=Control(popular("juice", "tea", "milk"), 0.5, rewards=1))
    assert fresh.comparison()["groups"]["model"]["decisions"] == 0
    fresh.record(late.id, 1.0)  # counts where it was decided
    assert fresh.comparison()["groups"]["model"]["rewards"] == 0
    made = fresh.decide_many([f"user {i}" for i in range(30)])
    fresh.record_many([(decision.id, 1.0) for decision in made])
    groups = fresh.comparison()["groups"]
    assert groups["model"]["counted"] + groups["control"]["counted"] == 30


def test_a_forgotten_user_counts_no_longer(tried: DecisionService) -> None:
    for _ in range(2):
        tried.record(tried.decide("ada").id, 1.0)
    groups = tried.comparison()["groups"]
    assert groups["model"]["counted"] + groups["control"]["counted"] == 1
    tried.forget("ada")
    groups = tried.comparison()["groups"]
    assert groups["model"]["counted"] + groups["control"]["counted"] == 0


def test_the_control_makes_do_with_the_arms_that_it_knows(
    make_service: MakeService, policy: lob.LobTS
) -> None:
    control = Control(popular("tea", "coffee"), 0.999)
    service = make_service(policy, control=control, seed=0)
    every = {f"user {i}": service.decide(f"user {i}") for i in range(20)}
    assert sum(d == ("tea", 1.0) for d in ((d.arm, d.probability) for d in every.values())) >= 18
    lost = [service.decide(f"user {i}", allowed=["milk", "juice"]) for i in range(20)]
    assert {decision.arm for decision in lost} == {"milk", "juice"}
    assert {decision.probability for decision in lost} == {0.5}
    told = service.explain("user 1")
    assert told["group"] == "control"
    assert {row["arm"]: row["probability"] for row in told["why"]} == {
        "tea": 1.0, "milk": 0.0, "juice": 0.0,
    }  # fmt: skip


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, True, math.nan])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(lob.LobInputError, match="share of the control group"):
        Control(lob.UCB(3, sigma=1.0), share)


def test_the_verdict_says_what_is_missing(make_service: MakeService, policy: lob.LobTS) -> None:
    tried = make_service(policy, control=Control(popular(*ARMS), 0.5, rewards=1), seed=1)
    made = tried.decide_many([f"user {i}" for i in range(300)])
    tried.record_many([(d.id, float(i % 2)) for i, d in enumerate(made[:20])])
    assert "at least 50 in each group" in tried.comparison()["difference"]["verdict"]
    tried.record_many([(d.id, float(i % 2)) for i, d in enumerate(made[20:-1])])
    assert tried.comparison()["difference"]["verdict"] == "open: the band holds 0"
    tried.record(made[-1].id, 1000.0)
    assert "one user makes up more than 5%" in tried.comparison()["difference"]["verdict"]


def test_both_groups_take_choice_sets_of_one_type(
    make_service: MakeService, policy: lob.LobTS, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else kernels would be compiled anew for the first user of the control group."""
    kinds: set[bool] = set()

    def spy(policy: lob.Policy, state: lob.State, allowed: BoolArray) -> FloatArray:
        kinds.add(allowed.flags.writeable)
        return odds_of(policy, state, allowed)

    tried = make_service(policy, control=Control(policy, 0.5), seed=1)
    for module in (control_group, deciding):
        monkeypatch.setattr(module, "odds_of", spy)
    tried.decide_many([f"user {i}" for i in range(20)])
    assert kinds == {False}
