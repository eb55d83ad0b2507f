"""Several problems in one store: their models, arms and statistics are apart, users are shared."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from tests.service.conftest import MakeService

import lobandits as lob
import lobandits.service.errors as er
from lobandits.errors import LobInputError
from lobandits.service import DecisionService
from lobandits.service import current_model as module
from lobandits.service.decision import new_id
from lobandits.service.reports.rewards import stored_rewards
from lobandits.service.store import tables


def ucb(*arms: str) -> lob.UCB:
    return lob.UCB(len(arms), 1.0, arms=arms)


@pytest.fixture
def both(make_service: MakeService) -> DecisionService:
    """Return a service of drinks, and of news that have an arm of the same name."""
    service = make_service(ucb("tea", "milk"), seed=0)
    service.put_model(ucb("sports", "tea", "films"), "news")
    return service


def test_each_has_its_own_model_arms_and_statistics(both: DecisionService) -> None:
    assert sorted(both.problems) == ["default", "news"]
    assert both.served("news")[1].arms == ("sports", "tea", "films")
    news = both.decide("ada", ["tea"], problem="news")
    assert (news.arm, news.model) == ("tea", both.problems["news"])
    assert both.record(news.id, 3.0) == "recorded"
    assert both.user("ada")["arms"] == {"tea": NOTHING, "milk": NOTHING}
    told = both.user("ada", "news")["arms"]
    assert told == {"sports": NOTHING, "tea": {"plays": 1, "mean": 3.0}, "films": NOTHING}
    assert [row["plays"] for row in both.explain("ada", problem="news")["why"]] == [0, 1, 0]
    assert sum(both.activity()["decisions"]) == 0
    assert sum(both.activity(problem="news")["rewards"]) == 1
    with pytest.raises(er.UnknownArmError):
        both.decide("ada", ["sports"])


NOTHING = {"plays": 0, "mean": None}


def test_one_batch_may_decide_for_several(both: DecisionService) -> None:
    """Each on its own statistics: UCB plays the arm that it has not tried."""
    for problem, arms in (("default", ["tea"]), ("news", ["sports", "films"])):
        for arm in arms:
            both.record(both.decide("ada", [arm], problem=problem).id, 0.0)
    requests = [{"user": u, "problem": p} for u in ("ada", "bob") for p in (None, "news")]
    ada, ada_news, bob, bob_news = both.decide_many(requests)
    assert (ada.arm, ada_news.arm) == ("milk", "tea")
    assert bob.arm in ("tea", "milk")
    assert bob_news.probability == pytest.approx(1 / 3)
    assert [row.id for row in both.log()][-2:] == [ada.id, bob.id]
    assert [row.id for row in both.log(problem="news")][-2:] == [ada_news.id, bob_news.id]


def test_the_log_numbers_the_arms_of_each_problem_from_0(both: DecisionService) -> None:
    both.decide("ada", ["films"], problem="news")
    both.put_model(ucb("milk", "water"))
    both.decide("ada", ["water"])
    (news,) = both.log(problem="news")
    (drinks,) = both.log()
    assert (news.problem, news.arm, news.action) == ("news", "films", 2)
    assert (drinks.problem, drinks.arm, drinks.action) == ("default", "water", 2)


def test_models_go_back_one_by_one(both: DecisionService) -> None:
    first = both.problems
    both.put_model(ucb("milk"), "news")
    assert both.rollback("news") == first["news"]
    assert both.problems == first
    for problem in (None, "news", "nothing"):
        with pytest.raises(er.NoEarlierModelError):
            both.rollback(problem)


def test_the_same_policy_may_serve_two_problems(both: DecisionService) -> None:
    assert both.put_model(both.policy, "other").partition("-")[2] in both.model
    both.record(both.decide("ada", problem="other").id, 1.0)
    assert (both.user("ada", "other")["plays"], both.user("ada")["plays"]) == (1, 0)


def test_an_id_is_of_one_problem(both: DecisionService) -> None:
    key = new_id()
    first = both.decide("ada", id=key, problem="news")
    assert both.decide("ada", id=key, problem="news") == first
    with pytest.raises(er.IdConflictError, match="problem's decision"):
        both.decide("ada", id=key)
    twice = new_id()
    with pytest.raises(er.IdConflictError):
        both.decide_many([{"user": "ada", "id": twice, "problem": p} for p in (None, "news")])


def test_forgetting_a_user_forgets_all_problems(both: DecisionService) -> None:
    for problem in ("default", "news"):
        both.record(both.decide("ada", problem=problem).id, 1.0)
    assert both.forget("ada") == 2
    for table in (tables.users, tables.statistics, tables.decisions):
        with both.store.read() as connection:
            assert connection.execute(select(table)).all() == []


def test_learning_reads_one_problem(both: DecisionService) -> None:
    for problem, reward in (("default", 1.0), ("news", 5.0)):
        made = both.decide_many(
            [{"user": u, "problem": problem, "allowed": ["tea"]} for u in "abc"]
        )
        both.record_many([(decision.id, reward) for decision in made[:2]])
    table = stored_rewards(both.store, problem="news")
    assert (table.sums.sum(), table.skipped) == (10.0, 1)
    assert stored_rewards(both.store).sums.sum() == 2.0
    with pytest.raises(LobInputError, match="of the problem 'nothing'"):
        stored_rewards(both.store, datetime(2020, 1, 1, tzinfo=UTC), "nothing")


def test_unknown_problems_are_refused(both: DecisionService, make_service: MakeService) -> None:
    for call in (
        lambda: both.decide("ada", problem="nothing"),
        lambda: both.user("ada", "nothing"),
        lambda: both.activity(problem="nothing"),
        lambda: both.log(problem="nothing"),
        lambda: both.served("nothing"),
    ):
        with pytest.raises(er.UnknownProblemError, match="there is no problem 'nothing'"):
            call()
    for wrong in ("", "a b", "x" * 65, "a/b", 7):
        with pytest.raises(er.InvalidRequestError, match="a problem is named by"):
            both.decide("ada", problem=wrong)  # type: ignore[arg-type]
    with pytest.raises(LobInputError, match="no model of the problem 'nothing' yet"):
        make_service(problem="nothing")


def test_others_follow_new_problems(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", -1.0)
    one, two = make_service(ucb("a")), make_service()
    one.put_model(ucb("b"), "news")
    assert two.decide("u", problem="news").arm == "b"
    assert make_service(problem="news").decide("u").arm == "b"


def test_a_problem_that_cannot_be_read_stops_no_other(
    both: DecisionService, make_service: MakeService
) -> None:
    both.store.execute("UPDATE models SET policy = '{' WHERE version = 2")
    service = make_service()
    assert service.decide("ada").arm in ("tea", "milk")
    with pytest.raises(er.UnreadableModelError, match="cannot be read"):
        service.decide("ada", problem="news")
    service.put_model(ucb("sports"), "news")
    assert service.decide("ada", problem="news").arm == "sports"
