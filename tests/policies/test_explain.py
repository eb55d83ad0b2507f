import numpy as np
import pytest

from lobandits.policies import MUCB
from lobandits.policies.explanation import Explanation, rows

pytestmark = pytest.mark.plain


def test_tables_are_aligned() -> None:
    arms = rows(
        arm=["tea", "hot milk"],
        plays=np.array([12, 3]),
        mean=np.array([0.123456, np.nan]),
        upper=np.array([np.inf, 2.0]),
        top=np.array([True, False]),
    )
    text = str(Explanation("title", arms, notes=["a note"]))
    assert text.splitlines() == [
        "title",
        "",
        "arm       plays    mean  upper  top",
        "tea          12  0.1235    inf  yes",
        "hot milk      3       -      2   no",
        "",
        "a note",
    ]


def test_rows_are_plain_values() -> None:
    table = rows(a=np.array([1, 2]), b=np.array([0.5, 1.5]))
    assert table == [{"a": 1, "b": 0.5}, {"a": 2, "b": 1.5}]
    assert type(table[0]["a"]) is int


def test_one_policy_in_full() -> None:
    policy = MUCB(np.array([[2.0, 0.0], [1.0, 1.0]]), 1.0, 100, arms=("tea", "coffee"))
    title = "MUCB(state_means=<2x2>, sigma=1.0, horizon=100, constant=6.0, margin=0.0), user 1"
    state = policy.start(2)
    policy.decide(state, np.zeros(2), policy.all_arms)
    policy.record(state, [0], [1.5], users=[1])
    assert str(policy.explain(state, user=1)).splitlines() == [
        f"{title}, 1 plays",
        "",
        "arm     plays  mean  probability",
        "tea         1   1.5            1",
        "coffee      0     -            0",
        "",
        "state  best arm      best mean  visits  gap  bound  consistent",
        "    0  tea                   2       1  0.5  5.257         yes",
        "    1  tea = coffee          1       0    0      0         yes",
    ]
