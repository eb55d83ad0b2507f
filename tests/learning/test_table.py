"""RewardTable: its numbers, how it is filled from cells, and means of arms never tried."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.learning.helpers import refused, with_values

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.learning import RewardTable, reward_table
from lobandits.learning import table as tables
from lobandits.learning.table import available_memory, check_memory

LESS = 2**14  # bytes
Rows = list[tuple[int, str, float]]

rows_of_logs = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from("abcd"), st.integers(-20, 20).map(float)),
    min_size=1,
    max_size=60,
)


def tabulate(rows: Rows) -> RewardTable:
    """Add up rows one by one."""
    users, arms = sorted({u for u, _, _ in rows}), sorted({a for _, a, _ in rows})
    counts = np.zeros((len(users), len(arms)), dtype=np.int64)
    sums, squares = np.zeros(counts.shape), np.zeros(counts.shape)
    for user, arm, reward in rows:
        cell = users.index(user), arms.index(arm)
        counts[cell] += 1
        sums[cell] += reward
        squares[cell] += reward**2
    return RewardTable(np.array(users), tuple(arms), counts, sums, squares)


@given(rows_of_logs)
def test_means_and_noise_are_those_of_the_rows(rows: Rows) -> None:
    table = tabulate(rows)
    spread, freedom = 0.0, 0
    for i, user in enumerate(table.users):
        for a, arm in enumerate(table.arms):
            cell = [r for u, b, r in rows if (u, b) == (user, arm)]
            if not cell:
                assert np.isnan(table.means[i, a])
                continue
            assert table.means[i, a] == pytest.approx(np.mean(cell), abs=1e-9)
            spread += float(np.var(cell) * len(cell))
            freedom += len(cell) - 1
    if freedom:
        assert table.noise() == pytest.approx((spread / freedom) ** 0.5, abs=1e-6)
    else:
        assert np.isnan(table.noise())


@given(rows_of_logs, st.integers(1, 12), st.integers(1, 12))
def test_arms_are_dropped_first_then_users_then_arms_that_nobody_left_tried(
    rows: Rows, min_user: int, min_arm: int
) -> None:
    def total(rows: Rows, place: int, value: Any) -> int:
        return sum(row[place] == value for row in rows)

    kept = [row for row in rows if total(rows, 1, row[1]) >= min_arm]
    kept = [row for row in kept if total(kept, 0, row[0]) >= min_user]
    table = tabulate(rows).filter(min_user, min_arm)
    assert table.n_rewards == len(kept)
    assert table.users.tolist() == sorted({row[0] for row in kept})
    assert table.arms == tuple(sorted({row[1] for row in kept}))
    if kept:
        np.testing.assert_array_equal(table.counts, tabulate(kept).counts)
        np.testing.assert_array_equal(table.sums, tabulate(kept).sums)


def test_equal_means_are_equal_bits_in_any_order_of_adding() -> None:
    rewards = [0.1, 0.7, 0.2, 1.3, 0.9, 0.3]
    sums = [[sum(rewards), sum(reversed(rewards)), 10 * sum(rewards)]]
    squares = [[sum(r * r for r in rewards)] * 2 + [10 * sum(r * r for r in rewards)]]
    table = RewardTable(np.array([1]), tuple("abc"), [[6, 6, 60]], sums, squares)  # type: ignore[arg-type]
    assert sums[0][0] != sums[0][1]
    assert len(set(table.means[0].tolist())) == 1


def test_equal_means_are_equal_bits_whatever_the_spread() -> None:
    cells = {"a": [3.0, 3.0, 4.0], "b": [5.0, 5.0, 0.0], "c": [10 / 3], "d": [-90.0, 100.0, 0.0]}
    table = tabulate([(0, arm, reward) for arm, rewards in cells.items() for reward in rewards])
    assert len(set(table.means[0].tolist())) == 1
    assert table.means[0, 0] == pytest.approx(10 / 3, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-20, 1e20, 1e140])
def test_means_of_any_size_keep_their_digits(scale: float) -> None:
    table = tabulate([(0, "a", 3.7 * scale), (0, "b", 1.1 * scale), (1, "a", 2.0 * scale)])
    np.testing.assert_allclose(
        table.means, np.array([[3.7, 1.1], [2.0, np.nan]]) * scale, rtol=1e-11
    )


def test_equal_rewards_have_no_noise() -> None:
    assert tabulate([(0, "a", 0.1)] * 7 + [(0, "b", 1e9 / 3)] * 3).noise() == 0.0
    assert tabulate([(0, "a", 1e4 + 1), (0, "a", 1e4 - 1)]).noise() == pytest.approx(2**0.5)


def test_halves_keep_their_bits() -> None:
    table = tabulate([(0, "a", 3.5), (0, "a", 4.0), (1, "a", 5.0), (1, "b", -0.5)])
    assert table.means.tolist()[0][0] == 3.75
    assert table.means.tolist()[1] == [5.0, -0.5]


def test_take_keeps_arms_and_the_order_asked_for() -> None:
    table = tabulate([(0, "a", 1.0), (1, "b", 2.0), (2, "b", 3.0)])
    part = table.take([2, 0])
    assert part.users.tolist() == [2, 0]
    assert part.arms == ("a", "b")
    assert part.sums.tolist() == [[0.0, 3.0], [1.0, 0.0]]
    assert table.take(table.users > 0).users.tolist() == [1, 2]
    assert table.take([]).n_users == 0
    with pytest.raises(LobInputError, match="no such users"):
        table.take([3])


def test_tables_of_the_same_rewards_are_equal_whoever_their_users_are() -> None:
    cells = {"counts": [[1], [2]], "sums": [[1.0], [3.0]], "squares": [[1.0], [5.0]]}

    def table(*users: Any) -> RewardTable:
        return RewardTable(np.array(users, dtype=object), ("a",), **cells)  # type: ignore[arg-type]

    one, two = table("ann", "b" * 9), table("ann", "bbb" * 3)
    assert one == two
    assert hash(one) == hash(two)
    assert one != table("ann", "bob")
    assert one != one.take([1, 0])


def test_what_a_table_is_made_of_stays_the_callers_own() -> None:
    counts = np.ones((1, 1), dtype=np.int64)
    sums = np.ones((1, 1))
    table = RewardTable(np.array(["x"]), ("a",), counts, sums, np.ones((1, 1)))
    sums[0, 0] = 7.0
    assert table.sums[0, 0] == 1.0


def test_a_table_cannot_be_written() -> None:
    table = tabulate([(0, "a", 1.0)])
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 0] = 2
    with pytest.raises(AttributeError):
        table.arms = ("b",)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"counts": [[-1]]}, "counts must be numbers of rewards, or weights, not negative"),
        ({"counts": [[-0.5]]}, "counts must be numbers of rewards, or weights, not negative"),
        ({"sums": [[np.nan]]}, r"sums\[0, 0\] is nan"),
        ({"squares": [[1.0, 2.0]]}, r"squares must have the shape \(1, 1\), got \(1, 2\)"),
        ({"arms": ["a", "b"]}, r"counts must have the shape \(1, 2\)"),
        ({"arms": [" "]}, "an arm name must not be blank"),
        ({"users": [["x"]]}, "users must have 1 axis"),
        ({"users": ["x", "x"]}, "users has somebody twice"),
    ],
)
def test_wrong_fields_are_refused(fields: dict[str, Any], words: str) -> None:
    right = {
        "users": ["x"], "arms": ["a"], "counts": [[1]], "sums": [[1.0]], "squares": [[1.0]],
    }  # fmt: skip
    with pytest.raises(LobInputError, match=words):
        RewardTable(**(right | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arms", "names"),
    [
        ([10, 9, 2], ("2", "9", "10")),
        ([True, False, True], ("False", "True")),
        ([2.5, 1.0, 2.0], ("1.0", "2.0", "2.5")),
        (["b", "B", "a b"], ("B", "a b", "b")),
    ],
)
def test_arms_of_any_type_are_sorted_and_named(arms: list[object], names: tuple[str, ...]) -> None:
    logs = pl.DataFrame({"user": ["u", "v", "w"], "arm": arms, "reward": [1, 2, 3]})
    table = reward_table(logs)
    assert table.arms == names
    assert table.users.tolist() == ["u", "v", "w"]
    assert table.n_rewards == 3


@pytest.mark.parametrize(
    ("kind", "users"),
    [
        (pl.Int16, [30_000, -30_000, 5]),
        (pl.Int32, [2_000_000_000, -2_000_000_000, 5]),
        (pl.Int64, [2**62, -(2**62), 0]),
        (pl.UInt64, [2**64 - 1, 0, 7]),
        (pl.Float64, [1.5, -1.0, 0.0]),
        (pl.String, ["ü", "z", "a"]),
        (pl.Date, [3, 2, 1]),
    ],
)
@pytest.mark.parametrize("copies", [1, 40_000])
def test_users_of_any_type_are_sorted(kind: Any, users: list[Any], copies: int) -> None:
    column = pl.Series(users * copies, dtype=kind)
    logs = pl.DataFrame({"user": column, "arm": [1, 2, 1] * copies, "reward": [1, 2, 3] * copies})
    table = reward_table(logs)
    assert table.users.tolist() == sorted(column[:3].to_list())
    rewards = dict(zip(column[:3].to_list(), [1, 2, 3], strict=True))
    for user, row in zip(table.users.tolist(), table.sums, strict=True):
        assert row.sum() == rewards[user] * copies


def test_blank_arms() -> None:
    message = refused(with_values("arm", ["a", " ", "a", "b", "a"]))
    assert message == (
        "column 'arm' of the table: arms[0] is ' '; an arm name must not be blank. "
        "Correct or leave out such rows"
    )


def test_far_too_many_arms() -> None:
    many = np.arange(25_000)
    logs = pl.DataFrame({"user": many, "arm": many, "reward": many})
    assert "25,000 users and 25,000 arms, more than" in refused(logs)
    assert "is 'arm' the column of arms?" in refused(logs)


def wide_table(n_arms: int) -> lob.RewardTable:
    """Return two users who tried all of so many arms once."""
    ones = np.ones((2, n_arms), np.int64)
    sums = np.arange(2.0 * n_arms).reshape(2, -1)
    return lob.RewardTable(np.arange(2), tuple(map(str, range(n_arms))), ones, sums, sums**2)


def test_memory_is_told() -> None:
    free = available_memory()
    assert free is None or free > LESS
    check_memory(LESS, "a megabyte", "nothing")


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "available_memory", lambda: LESS)
    with pytest.raises(lob.LobInputError, match=r"a table needs 2\.0 GiB of memory, and 0\.0 are"):
        check_memory(2 * 2**30, "a table", "be modest")
    with pytest.raises(lob.LobInputError, match="in 19,900 pairs of arms needs"):
        lob.KendallKMeans(2).fit(wide_table(200).means)
    with pytest.raises(lob.LobInputError, match=r"200 arms needs .* drop rare arms"):
        lob.learn(wide_table(200), n_states=1)


def test_more_arms_than_users_are_learned() -> None:
    model = lob.learn(wide_table(600), n_states=1, likelihood=lob.Gaussian(1.0))
    assert model.prior.means.shape == (1, 600)
