"""One request must not stall all: many lists of allowed arms, huge models, long reports."""

import time
import tracemalloc

import numpy as np
import pytest
from tests.service.conftest import MakeService

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.service.http.bodies import MAX_BATCH
from lobandits.service.observers.activity import KEPT_MINUTES
from lobandits.service.served_policy import as_policy
from lobandits.service.store import tables
from lobandits.service.store.tables import MINUTE, microseconds


def orders(n_arms: int, n_states: int) -> lob.LatentOrders:
    rng = np.random.default_rng(0)
    return lob.LatentOrders.from_rankings([rng.permutation(n_arms) for _ in range(n_states)])


def seconds(service: lob.DecisionService, requests: list[dict[str, object]]) -> float:
    began = time.process_time()
    assert len(service.decide_many(requests)) == len(requests)
    return time.process_time() - began


def test_a_thousand_lists_of_allowed_arms(make_service: MakeService) -> None:
    """200 arms, 20 states and a list of its own for each of a thousand requests."""
    service = make_service(lob.LobTS(orders(200, 20), 1.0), seed=0)
    rng = np.random.default_rng(1)
    names = service.policy.arms
    plain: list[dict[str, object]] = [{"user": f"u{i}"} for i in range(MAX_BATCH)]
    listed = [
        request | {"allowed": [names[arm] for arm in rng.permutation(200)[: 20 + i % 100]]}
        for i, request in enumerate(plain)
    ]
    for batch in (plain, listed):  # every user has some rewards, and kernels are compiled
        made = service.decide_many(batch)
        service.record_many([(decision.id, 1.0) for decision in made])
    usual, different = seconds(service, plain), seconds(service, listed)
    assert different < 5 * usual + 1.0, f"{different:.2f} s, and {usual:.2f} s without lists"


def test_huge_models_are_refused_before_they_are_built() -> None:
    arms = [str(arm) for arm in range(5000)]
    huge = {"format": "lobandits.orders", "version": 1, "arms": arms, "states": [[arms]] * 20}
    prior = {"arms": arms, "means": [[0.0]] * 9990, "loadings": [[0.0] * 16]}
    known = prior | {"means": [[0.0]], "known": huge}
    began = time.process_time()
    with pytest.raises(LobInputError, match="5,000 arms and 20 states are too many"):
        as_policy({"policy": "lobts", "orders": huge, "sigma": 1.0})
    with pytest.raises(
        LobInputError, match="5,000 arms, 9,990 states and 16 loadings is too large"
    ):
        as_policy({"policy": "lobbayes", "prior": prior})
    with pytest.raises(LobInputError, match="5,000 arms and 20 states are too many"):
        as_policy({"policy": "lobbayes", "prior": known})
    assert time.process_time() - began < 1.0


def test_a_prior_of_two_thousand_arms_is_served(make_service: MakeService) -> None:
    rng, k = np.random.default_rng(0), 2000
    names = tuple(f"arm {a}" for a in range(k))
    prior = lob.Prior(
        names, np.ones(1), rng.normal(size=(1, k)), np.ones((k, 1)), np.ones(k), np.zeros(1),
        lob.Gaussian(1.0),
    )  # fmt: skip
    service = make_service(lob.LobBayes(prior), seed=0)
    assert service.decide("somebody").arm in names
    assert service.activity()["fit"] == {"users": 0, "unexplained": None, "expected": 0.01}


def test_a_month_of_two_hundred_arms_takes_little_memory(make_service: MakeService) -> None:
    service = make_service(lob.UCB(200, 1.0))
    now = microseconds() // MINUTE
    rows = [
        {
            "minute": now - minute,
            "arm_id": 1 + arm,
            "writer": 1,
            "decisions": 1,
            "rewards": 1,
            "total": 2.0,
        }
        for minute in range(0, KEPT_MINUTES, 1000)
        for arm in range(0, 200, 10)
    ]
    with service.store.engine.begin() as connection:
        connection.execute(tables.activity.insert(), rows)
    tracemalloc.start()
    report = service.activity(minutes=KEPT_MINUTES)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(report["decisions"]) == sum(report["rewards"]) == len(rows)
    assert len(report["minutes"]) == len(report["decisions"]) < 2000
    assert peak < 200e6
