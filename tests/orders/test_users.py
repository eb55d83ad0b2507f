import copy
import pickle
import time
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.orders import naive

from lobandits import LatentOrders, LobInputError, LobWarning, UserOrders
from lobandits.orders import CHAINS, DAG

ABC = ["a", "b", "c"]


def rankings(n: int = 4, m: int = 3, k: int = 6, seed: int = 0) -> Any:
    return np.random.default_rng(seed).permuted(np.broadcast_to(np.arange(k), (n, m, k)), axis=-1)


@st.composite
def users_of(draw: DrawFn, state: Any) -> list[LatentOrders]:
    """A few users with as many states, drawn by ``state(k)``."""
    n, m, k = (draw(st.integers(1, most)) for most in (3, 3, 6))
    pairs = [[draw(state(k)) for _ in range(m)] for _ in range(n)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LobWarning)
        return [LatentOrders.from_relations(k, states) for states in pairs]


def check_against(orders: UserOrders, users: list[LatentOrders]) -> None:
    assert len(orders) == orders.n_users == len(users)
    assert (orders.n_states, orders.n_arms) == (users[0].n_states, users[0].n_arms)
    assert list(orders) == users
    assert orders.is_total == all(user.is_total for user in users)
    for name in ("precedes", "maximal", "tops"):
        np.testing.assert_array_equal(getattr(orders, name), [getattr(u, name) for u in users])
    for name in ("sequence", "linked", "parent", "kind", "maximal"):
        expected = [getattr(user.tables, name)[0] for user in users]
        np.testing.assert_array_equal(getattr(orders.tables, name), expected)
    assert orders.tables.above.size == 0 or (orders.tables.kind == DAG).any()
    for table in (*orders.tables, orders.precedes, orders.tops):
        assert not table.flags.writeable
        assert table.flags.c_contiguous


@given(st.data(), st.sampled_from([naive.chain_pairs, naive.forest_pairs, naive.acyclic_pairs]))
def test_stacked_orders_of_any_kind(data: st.DataObject, state: Any) -> None:
    users = data.draw(users_of(state))
    orders = UserOrders.stack(users)
    check_against(orders, users)
    chosen = data.draw(st.lists(st.integers(0, len(users) - 1), min_size=1))
    taken = orders.take(chosen)
    check_against(taken, [users[u] for u in chosen])
    assert taken == UserOrders.stack([users[u] for u in chosen])
    k = orders.n_arms
    some = data.draw(st.lists(st.integers(0, k - 1), min_size=1, unique=True))
    check_against(orders.only(some), [user.only(some) for user in users])
    again = pickle.loads(pickle.dumps(orders))
    check_against(again, users)
    assert again == orders
    assert hash(again) == hash(orders)


def test_rankings_are_total_orders() -> None:
    ranked = rankings()
    orders = UserOrders.from_rankings(ranked)
    check_against(orders, [LatentOrders.from_rankings(user) for user in ranked])
    np.testing.assert_array_equal(orders.tables.sequence, ranked)
    assert orders.is_total
    assert orders == UserOrders(ranked.tolist())


@given(st.data())
def test_chains_are_links_of_a_sequence(data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 6))
    sequence = np.array([[data.draw(st.permutations(range(k))) for _ in range(2)] for _ in "uv"])
    linked = np.array([[[False] + [data.draw(st.booleans()) for _ in range(k - 1)]] * 2] * 2)
    users = []
    for row, links in zip(sequence.tolist(), linked.tolist(), strict=True):
        pairs = [
            [(arms[j - 1], arms[j]) for j in range(1, k) if link[j]]
            for arms, link in zip(row, links, strict=True)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LobWarning)
            users.append(LatentOrders.from_relations(k, pairs))
    orders = UserOrders(sequence, linked)
    check_against(orders, users)
    assert orders == UserOrders.stack(users)
    assert hash(orders) == hash(UserOrders.stack(users))


def test_many_arms_use_wide_numbers() -> None:
    k = 1400
    sequence = np.random.default_rng(0).permutation(k)[None, None]
    linked = np.arange(k)[None, None] % 3 > 0
    tables = UserOrders(sequence, linked).tables
    heads = tables.sequence[~tables.linked].tolist()
    assert heads == sorted(sequence[~linked].tolist())
    assert sorted(tables.sequence.ravel().tolist()) == list(range(k))


@pytest.mark.parametrize("q", [0.0, 0.3, 0.6, 1.0])
def test_reveal_draws_user_after_user(q: float) -> None:
    ranked = rankings(5, 3, 6)
    revealed = UserOrders.from_rankings(ranked).reveal(q, rng=7)
    rng = np.random.default_rng(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LobWarning)
        users = [LatentOrders.from_rankings(user) for user in ranked]
    check_against(revealed, [user.reveal(q, rng) for user in users])


def test_reveal_needs_total_orders() -> None:
    orders = UserOrders([[[0, 1, 2]], [[2, 1, 0]]], [[[False, True, True]], [[False, True, False]]])
    with pytest.raises(LobInputError, match="user 1's state 0 is partial: 2 > 1; 0 free"):
        orders.reveal(0.5, rng=0)


def test_repeated_states_do_not_warn() -> None:
    orders = UserOrders([[[0, 1], [0, 1]]])
    assert orders[0][0] == orders[0][1]


def test_take() -> None:
    orders = UserOrders.from_rankings(rankings(5))
    assert orders.take([3, 0, 3]) == UserOrders.from_rankings(rankings(5)[[3, 0, 3]])
    assert orders.take(slice(1, 3)) == orders.take(np.array([1, 2], dtype=np.uint8))
    assert len(orders.take([])) == 0
    for users in ([5], [-1]):
        with pytest.raises(LobInputError, match=f"user {users[0]} is out of range; .* 0 to 4"):
            orders.take(users)
    wrong: list[Any] = [[True, False], 1, [0.5], "one", [[0]]]
    for users in wrong:
        with pytest.raises(LobInputError, match="users must be a list of whole numbers or a slice"):
            orders.take(users)


def test_taking_users_without_dags_drops_the_closures() -> None:
    chain = LatentOrders.from_relations(3, [[(0, 1)]])
    dag = LatentOrders.from_relations(3, [[(0, 2), (1, 2)]])
    orders = UserOrders.stack([chain, dag])
    assert orders.tables.above.shape == (2, 1, 3, 3)
    assert orders.take([0]).tables.above.shape == (1, 0, 0, 0)
    assert orders.take([0]) == UserOrders.stack([chain])
    assert orders.tables.kind.tolist() == [[CHAINS], [DAG]]
    assert orders[1] == dag


def test_forests_differ_from_chains() -> None:
    forest = LatentOrders.from_relations(4, [[(0, 1), (0, 2)]])
    orders = UserOrders.stack([forest])
    assert orders.tables.kind.tolist() == [[DAG]]
    assert orders[0] == forest


def test_dags_with_the_same_parents_differ() -> None:
    first = LatentOrders.from_relations(4, [[(0, 3), (1, 3)]])
    second = LatentOrders.from_relations(4, [[(0, 3), (2, 3)]])
    assert UserOrders.stack([first]).tables.parent.tolist() == [[[-1, -1, -1, -2]]]
    assert UserOrders.stack([first]) != UserOrders.stack([second])


def test_equality() -> None:
    orders = UserOrders.from_rankings(rankings())
    assert orders == UserOrders.from_rankings(rankings())
    assert orders != UserOrders.from_rankings(rankings(seed=1))
    assert orders != UserOrders.from_rankings(rankings(), arms=list("abcdef"))
    assert orders != orders[0]


def test_users_are_chosen_by_number() -> None:
    orders = UserOrders.from_rankings(rankings(2))
    assert orders[-1] == orders[1]
    with pytest.raises(IndexError, match="user 2 is out of range"):
        orders[2]
    with pytest.raises(LobInputError, match="a user is chosen by its number, got slice"):
        orders[0:1]  # type: ignore[index]


def test_repr() -> None:
    orders = UserOrders([[[0, 1], [1, 0]]])
    assert repr(orders) == "UserOrders(1 user, 2 states, 2 arms, total)"
    assert repr(orders.reveal(0, rng=0)) == "UserOrders(1 user, 2 states, 2 arms, partial)"


def test_nothing_can_be_changed_and_the_input_stays_the_callers_own() -> None:
    sequence = rankings()
    linked = np.zeros(sequence.shape, dtype=np.bool_)
    orders = UserOrders(sequence, linked)
    assert sequence.flags.writeable
    assert linked.flags.writeable
    linked[...] = True
    assert not orders.precedes.any()
    with pytest.raises(AttributeError, match="cannot assign to field 'arms'"):
        orders.arms = ()  # type: ignore[misc]
    linked[..., 0] = False
    orders = UserOrders(sequence, linked)
    assert linked.flags.writeable
    linked[...] = False
    assert orders.is_total
    unsigned = sequence.astype(np.uint32)
    orders = UserOrders(unsigned)
    unsigned[...] = 0
    assert orders == UserOrders(sequence)


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_read_only_and_leave_caches_behind(twin: Any) -> None:
    orders = UserOrders.from_rankings(rankings(50)).reveal(0.5, rng=0)
    before = len(pickle.dumps(orders))
    assert orders.precedes.any()
    assert orders.tops.any()
    assert len(pickle.dumps(orders)) == before
    again = twin(orders)
    assert again == orders
    assert not any(table.flags.writeable for table in again.tables)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1]],), r"must have the shape \(n_users, n_states, n_arms\).*got \(1, 2\)"),
        ((np.zeros((0, 1, 2), int),), r"none of them zero, got \(0, 1, 2\)"),
        ((np.zeros((1, 0, 2), int),), r"none of them zero"),
        ((np.zeros((1, 2, 0), int),), r"none of them zero"),
        (([[[0.0, 1.0]]],), "sequence must hold whole numbers .*, got dtype float64"),
        (([[["a", "b"]]],), "sequence must hold whole numbers"),
        (([[[True, False]]],), "sequence must hold whole numbers"),
        (([[[0, 1]], [[0]]],), "sequence is no array"),
        (([[[0, 1, 2]], [[0, 1, 1]]],), r"sequence\[1, 0\] is \[0, 1, 1\], no permutation"),
        (([[[0, 1], [1, 2]]],), r"sequence\[0, 1\] is \[1, 2\], no permutation of .* 0 to 1"),
        (([[[0, -1]]],), r"sequence\[0, 0\] is \[0, -1\], no permutation"),
        (([[[0, 1 - 2**32]]],), r"sequence\[0, 0\] is \[0, -4294967295\], no permutation"),
        (([[[0, 2**32 + 1]]],), r"sequence\[0, 0\] is \[0, 4294967297\], no permutation"),
        (([[[0, 1]]], [[[False, 1]]]), "linked must be boolean .*, got dtype int"),
        (([[[0, 1]]], [[False, True]]), r"of sequence's shape \(1, 1, 2\).*shape \(1, 2\)"),
        (([[[0, 1]]], [[[True, True]]]), r"linked\[0, 0, 0\] is True, but no arm stands before"),
        (([[[0, 1]]], None, ABC), "arms has 3 names for 2 arms"),
        (([[[0, 1]]], None, ["a", "a"]), "'a' more than once"),
    ],
)
def test_wrong_input_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        UserOrders(*arguments)


def test_stacked_users_must_match() -> None:
    first = LatentOrders.from_rankings([[0, 1, 2]])
    wrong: list[tuple[Any, str]] = [
        ([], "no users were given"),
        (None, "users must be a list of LatentOrders, got None"),
        ([first, LatentOrders.from_rankings([[0, 1]])], "user 1 has .*2 arms.*unlike user 0"),
        ([first, LatentOrders.from_rankings([[0, 1, 2]], arms=ABC)], "over a, b, c, unlike user 0"),
        ([first, LatentOrders.from_rankings([[0, 1, 2], [1, 0, 2]])], "user 1 has .*2 states"),
        ([first[0]], "user 0 must have LatentOrders"),
    ]
    for users, message in wrong:
        with pytest.raises(LobInputError, match=message):
            UserOrders.stack(users)


def test_a_hundred_thousand_users_are_quick() -> None:
    """About half a second on an idle core; a loop over users takes minutes."""
    ranked = rankings(100_000, 15, 15)
    start = time.process_time()
    orders = UserOrders.from_rankings(ranked)
    assert time.process_time() - start < 5
    assert orders.take([99_999])[0][14].ranking == tuple(ranked[99_999, 14].tolist())
