from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lobandits.errors import LobInputError
from lobandits.policies import UCB, State

N, K = 3, 4
POLICY = UCB(K, sigma=1.0)

rewards = st.floats(-1e6, 1e6, allow_nan=False, width=64)
events = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, K - 1), rewards), min_size=1, max_size=60
)


def record(state: State, batch: list[tuple[int, int, float]]) -> None:
    users, arms, values = zip(*batch, strict=True)
    POLICY.record(state, list(arms), list(values), users=list(users))


@given(events=events, data=st.data())
def test_order_and_batching_do_not_matter(
    events: list[tuple[int, int, float]], data: st.DataObject
) -> None:
    whole = POLICY.start(N)
    record(whole, events)
    shuffled = data.draw(st.permutations(events))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=4)))
    batched, parts = POLICY.start(N), []
    for lo, hi in zip([0, *cuts], [*cuts, len(events)], strict=True):
        if shuffled[lo:hi]:
            record(batched, shuffled[lo:hi])
            parts.append(POLICY.start(N))
            record(parts[-1], shuffled[lo:hi])
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    exact = exact_sums(events)
    for state in (whole, batched, merged):
        assert state.counts.tolist() == whole.counts.tolist()
        np.testing.assert_array_max_ulp(state.sums, exact, maxulp=1)


def exact_sums(events: list[tuple[int, int, float]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    sums = [[Fraction(0)] * K for _ in range(N)]
    for user, arm, value in events:
        sums[user][arm] += Fraction(value)
    return np.array([[float(total) for total in row] for row in sums])


@pytest.mark.parametrize("value", [0.1, 1e-9, -3.7])
def test_a_billion_rounds_keep_means_precise(value: float) -> None:
    start, more = 10**9, 200_000
    state = POLICY.start()
    state.counts[:] = start
    exact = Fraction(value) * start
    state.sums[:] = float(exact)
    state.carries[:] = float(exact - Fraction(float(exact)))
    POLICY.record(state, np.zeros(more, np.int64), np.full(more, value), users=0)
    exact += Fraction(value) * more
    assert state.sums[0, 0] == float(exact)
    assert abs(Fraction(state.sums[0, 0]) + Fraction(state.carries[0, 0]) - exact) < 1e-20
    assert state.means[0, 0] == pytest.approx(value, rel=3e-16)


def test_plain_addition_would_not_have_done() -> None:
    naive = 0.1 * 10**9
    for _ in range(200_000):
        naive += 0.1
    assert naive != float(Fraction(0.1) * (10**9 + 200_000))


@pytest.mark.plain
def test_small_rewards_beside_large_ones_are_not_lost() -> None:
    state = POLICY.start()
    POLICY.record(state, [0] * 4, [1e17, 1.0, 1.0, -1e17], users=0)
    assert state.sums[0, 0] == 2.0


@pytest.mark.plain
def test_means_plays_and_sizes() -> None:
    state = POLICY.start(2)
    POLICY.record(state, [1, 1, 3], [1.0, 2.0, 5.0], users=[0, 0, 1])
    assert state.plays.tolist() == [2, 1]
    np.testing.assert_equal(state.means, [[np.nan, 1.5, np.nan, np.nan], [np.nan] * 3 + [5.0]])
    assert repr(state) == "State(n_users=2, n_arms=4, plays=3)"


@pytest.mark.plain
def test_one_user_for_many_rewards_and_none() -> None:
    state = POLICY.start(2)
    POLICY.record(state, [0, 1], [1.0, 2.0], users=1)
    POLICY.record(state, [], [], users=[])
    assert state.sums.tolist() == [[0.0] * 4, [1.0, 2.0, 0.0, 0.0]]


@pytest.mark.plain
def test_merging_keeps_what_rounding_left_out() -> None:
    one, two = POLICY.start(), POLICY.start()
    POLICY.record(one, [0, 0], [1e17, 1.0], users=0)
    POLICY.record(two, [0, 0], [-1e17, 1.0], users=0)
    assert one.merge(two).sums[0, 0] == 2.0


def test_only_states_of_the_same_users_merge() -> None:
    with pytest.raises(LobInputError, match="same users and arms"):
        POLICY.start(2).merge(POLICY.start(3))
    with pytest.raises(LobInputError, match="cannot merge"):
        POLICY.start().merge(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("users", [[2], [-1], [0.5], [[0]], [True]])
def test_only_users_that_exist_can_be_taken(users: list[Any]) -> None:
    with pytest.raises(LobInputError, match="users"):
        POLICY.start(2).take(users)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("counts", [[1, 2, 3]], r"counts must have shape \(1, 4\)"),
        ("counts", [[1.5, 0.0, 0.0, 0.0]], "counts must be whole numbers"),
        ("counts", [[-1, 0, 0, 0]], "counts must not be negative"),
        ("counts", [[1], [2, 3]], "counts must be an array of numbers"),
        ("counts", None, r"counts must have shape \(1, 4\)"),
        ("counts", [[0, 0, 0, 0]], "sums must be 0 where counts is 0"),
        ("sums", [[np.nan, 0, 0, 0]], "sums must be finite"),
        ("sums", [["x", 0, 0, 0]], "sums must be an array of numbers"),
        ("sums", [[1.0], [2.0, 3.0]], "sums must be an array of numbers"),
        ("carries", None, "carries"),
    ],
)
def test_damaged_states_are_refused(field: str, value: Any, message: str) -> None:
    state = POLICY.start()
    POLICY.record(state, [0], [1.0])
    with pytest.raises(LobInputError, match=message):
        POLICY.restore(state.to_dict() | {field: value})


def test_what_is_no_state_is_refused() -> None:
    with pytest.raises(LobInputError, match="a state needs the array 'counts'"):
        POLICY.restore([1, 2])  # type: ignore[arg-type]


def test_arrays_of_other_lengths_are_refused() -> None:
    state = POLICY.start(2)
    state.sums = np.zeros((1, K))
    with pytest.raises(
        LobInputError, match=r"sums has shape \(1, 4\), but this ucb needs \(2, 4\)"
    ):
        POLICY.choose(state, 0)


def test_states_with_missing_or_unknown_arrays_are_refused() -> None:
    data = POLICY.start().to_dict()
    with pytest.raises(LobInputError, match="did you mean 'sums'"):
        POLICY.restore(data | {"sum": data["sums"]})
    for name in data:
        with pytest.raises(LobInputError, match=name):
            POLICY.restore({key: value for key, value in data.items() if key != name})


@pytest.mark.parametrize("n_users", [0, -1, 1.5, "two"])
def test_only_whole_numbers_of_users_start(n_users: Any) -> None:
    with pytest.raises(LobInputError, match="n_users"):
        POLICY.start(n_users)
