"""One contract for every policy in `POLICIES`, with shared orders and with orders per user."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from tests.policies.cases import Problems, random_problems

from lobandits.basics.checks import IntArray
from lobandits.errors import LobInputError
from lobandits.orders import UserOrders
from lobandits.policies import POLICIES, Policy, State, make_policy, policy_from_dict
from lobandits.policies.registry import parameters_of

K, M, USERS, SIGMA = 5, 4, 6, 1.5
CASES = {
    "total shared": (1.0, None),
    "partial shared": (0.5, None),
    "total per user": (1.0, USERS),
    "partial per user": (0.5, USERS),
}
VARIANTS = {"lobts project_every": 5, "lobucb refresh_every": 5, "mts best_arms_first": True}
MEANS = np.random.default_rng(8).normal(size=(USERS, K))


@pytest.fixture(params=CASES)
def problems(request: pytest.FixtureRequest) -> Problems:
    q, n_users = CASES[request.param]
    return random_problems(K, M, SIGMA, q, n_users, seed=4)


@pytest.fixture(params=[*POLICIES, *VARIANTS])
def policy(request: pytest.FixtureRequest, problems: Problems) -> Policy:
    name, _, option = request.param.partition(" ")
    options = {option: VARIANTS[request.param]} if option else {}
    return make_policy(name, problems, horizon=50, **options)


def play(policy: Policy, state: State, rounds: int, seed: int = 0) -> IntArray:
    """Play rounds on one generator and return the arms, (rounds, n_users)."""
    choices, rewards = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    noise = SIGMA * rewards.standard_normal((rounds, state.n_users))
    played = []
    for t in range(rounds):
        arms = policy.choose(state, choices)
        policy.record(state, arms, MEANS[np.arange(state.n_users), arms] + noise[t])
        played.append(arms)
    return np.array(played)


def assert_same(one: State, two: State) -> None:
    mine, theirs = one.to_dict(), two.to_dict()
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)


def test_shapes_and_types(policy: Policy) -> None:
    state = policy.start(USERS)
    assert isinstance(state, policy.state_type)
    assert (state.n_users, state.n_arms, state.plays.tolist()) == (USERS, K, [0] * USERS)
    arms = policy.choose(state, rng=0)
    assert arms.shape == (USERS,)
    assert arms.dtype == np.int64
    assert ((arms >= 0) & (arms < K)).all()
    policy.record(state, arms, np.ones(USERS))
    assert state.plays.tolist() == [1] * USERS
    assert policy.probabilities(state).shape == (USERS, K)
    assert policy.arms == tuple("01234")


def test_the_seed_decides_everything(policy: Policy) -> None:
    first, second = policy.start(USERS), policy.start(USERS)
    assert play(policy, first, 25).tolist() == play(policy, second, 25).tolist()
    assert_same(first, second)


def test_a_batch_equals_its_users_one_by_one(policy: Policy) -> None:
    rounds = 25
    batch = policy.start(USERS)
    together = play(policy, batch, rounds)
    choices, rewards = np.random.default_rng(0), np.random.default_rng(1)
    noise = SIGMA * rewards.standard_normal((rounds, USERS))
    singles = [policy.take([u]) for u in range(USERS)]
    states = [single.start() for single in singles]
    for t in range(rounds):
        for u in range(USERS):
            arm = singles[u].choose(states[u], choices)
            assert arm.tolist() == [together[t, u]]
            singles[u].record(states[u], arm, MEANS[u, arm] + noise[t, u])
    for u, state in enumerate(states):
        assert_same(state, batch.take([u]))
        expected = policy.probabilities(batch)[u]
        np.testing.assert_allclose(singles[u].probabilities(state)[0], expected, atol=1e-14)


@pytest.mark.parametrize("rounds", [0, 1, 12, 40])
def test_propensities_are_the_frequencies_of_choices(policy: Policy, rounds: int) -> None:
    draws = 4000
    state = policy.start(USERS)
    play(policy, state, rounds)
    p = policy.probabilities(state)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    users = np.repeat(np.arange(USERS), draws)
    arms = policy.take(users).choose(state.take(users), rng=5)
    counts = np.zeros((USERS, K))
    np.add.at(counts, (users, arms), 1)
    error = 5 * np.sqrt(p * (1 - p) / draws) + 5 / draws
    assert (np.abs(counts / draws - p) <= error).all()
    assert not counts[p == 0].any()


def test_propensities_and_explanations_change_nothing(policy: Policy) -> None:
    state = policy.start(USERS)
    play(policy, state, 10)
    before = state.copy()
    policy.probabilities(state)
    policy.explain(state, user=2)
    assert_same(state, before)


def test_pickling(policy: Policy) -> None:
    copy = pickle.loads(pickle.dumps(policy))
    assert copy == policy
    assert hash(copy) == hash(policy)
    assert repr(copy) == repr(policy)
    state, other = policy.start(USERS), copy.start(USERS)
    assert play(policy, state, 10).tolist() == play(copy, other, 10).tolist()
    assert_same(pickle.loads(pickle.dumps(state)), state)


def test_policies_are_frozen(policy: Policy) -> None:
    with pytest.raises(FrozenInstanceError):
        policy.sigma = 3.0  # type: ignore[attr-defined]
    assert len({policy, policy.take(np.arange(USERS))}) == 1
    assert policy != POLICIES["ucb"](K, 9.0)  # type: ignore[arg-type, call-arg]
    assert len(repr(policy)) < 150


def test_orders_and_means_are_left_alone(problems: Problems) -> None:
    before = pickle.dumps((problems.orders, problems.state_means))
    for name in POLICIES:
        policy = make_policy(name, problems, horizon=50)
        play(policy, policy.start(USERS), 10)
    after = pickle.dumps((problems.orders, problems.state_means))
    orders, means = pickle.loads(before)
    assert problems.orders == orders
    assert (problems.state_means == means).all()
    assert len(before) == len(after)


def test_storing_a_state_and_going_on(policy: Policy) -> None:
    state = policy.start(USERS)
    play(policy, state, 13)
    stored = state.to_dict()
    back = policy.restore({name: value.tolist() for name, value in stored.items()})
    assert_same(back, state)
    assert play(policy, back, 13, seed=9).tolist() == play(policy, state, 13, seed=9).tolist()
    assert stored["counts"].sum() == 13 * USERS


def test_storing_a_policy(policy: Policy) -> None:
    one = policy.take([1])
    back = policy_from_dict(one.to_dict())
    state, other = one.start(), back.start()
    assert play(one, state, 20).tolist() == play(back, other, 20).tolist()
    if policy.n_users is None:
        assert back == policy


def test_taking_users(policy: Policy) -> None:
    state = policy.start(USERS)
    play(policy, state, 9)
    users = [4, 0, 4]
    some = state.take(users)
    assert some.counts.tolist() == state.counts[users].tolist()
    p = policy.take(users).probabilities(some)
    np.testing.assert_array_equal(p, policy.probabilities(state)[users])
    some.counts[:] = 0
    assert state.plays.tolist() == [9] * USERS


def test_merging_states_adds_their_rewards(policy: Policy) -> None:
    one, two = policy.start(USERS), policy.start(USERS)
    play(policy, one, 7, seed=1)
    play(policy, two, 5, seed=2)
    both = one.merge(two)
    assert both.counts.tolist() == (one.counts + two.counts).tolist()
    np.testing.assert_allclose(both.sums, one.sums + two.sums, rtol=1e-15)
    np.testing.assert_allclose(policy.probabilities(both).sum(axis=1), 1)
    assert_same(both, two.merge(one))


def test_recording_any_users_in_any_order(policy: Policy) -> None:
    state, other = policy.start(USERS), policy.start(USERS)
    rng = np.random.default_rng(0)
    users, arms = rng.integers(0, USERS, 60), rng.integers(0, K, 60)
    rewards = rng.normal(size=60)
    policy.record(state, arms, rewards, users=users)
    for i in rng.permutation(60):
        policy.record(other, [arms[i]], [rewards[i]], users=[users[i]])
    assert state.counts.tolist() == other.counts.tolist()
    np.testing.assert_array_max_ulp(state.sums, other.sums, maxulp=1)


@pytest.mark.parametrize(
    ("arms", "rewards", "users", "message"),
    [
        ([0, K], [1.0, 1.0], [0, 1], r"arms\[1\] is 5"),
        ([0, -1], [1.0, 1.0], [0, 1], r"arms\[1\] is -1"),
        ([0, 1], [1.0, np.nan], [0, 1], r"rewards\[1\] is nan"),
        ([0, 1], [1.0, np.inf], [0, 1], r"rewards\[1\] is inf"),
        ([0, 1], [1.0, 1e200], [0, 1], r"rewards\[1\] is 1e\+200"),
        ([0, 1], [1.0, 1.0], [0, USERS], r"users\[1\] is 6"),
        ([0, 1], [1.0, 1.0], [0, -1], r"users\[1\] is -1"),
        ([0, 1], [1.0], [0, 1], "as long as each other"),
        ([0, 1], [1.0, 1.0], [0], "users has 1"),
        ([0, 1], [1.0, 1.0], None, "2 entries for 6 users"),
        ([0.0, 1.0], [1.0, 1.0], [0, 1], "arms must be whole numbers"),
        ([0, 1], ["a", "b"], [0, 1], "rewards must be numbers"),
        ([0, 1], ["1", "2"], [0, 1], "rewards must be numbers: got <U1"),
        ([0, 1], np.array([1j, 1.0]), [0, 1], "rewards must be numbers: got complex128"),
        ([True, False], [1.0, 1.0], [0, 1], "arms must be whole numbers"),
        ([[0, 1]], [1.0, 1.0], [0, 1], "in one row"),
    ],
)
def test_what_is_refused_is_not_recorded(
    policy: Policy, arms: list[int], rewards: list[float], users: list[int], message: str
) -> None:
    state = policy.start(USERS)
    with pytest.raises(LobInputError, match=message):
        policy.record(state, arms, rewards, users=users)
    assert_same(state, policy.start(USERS))


def test_states_of_another_shape_are_refused(policy: Policy) -> None:
    with pytest.raises(LobInputError, match="the state has"):
        policy.choose(policy.start(USERS).take([0, 1]) if policy.n_users else wrong(policy), 0)
    with pytest.raises(LobInputError, match="needs a"):
        policy.probabilities(None)


def wrong(policy: Policy) -> State:
    state: State = policy.start(2)
    state.counts = np.zeros((2, K + 1), np.int64)
    return state


def test_a_spread_whose_square_is_no_number_is_refused(problems: Problems) -> None:
    for name in (name for name in POLICIES if "sigma" in parameters_of(POLICIES[name])):
        for sigma in (1e-200, 1e200):
            with pytest.raises(LobInputError, match="sigma must lie between 1e-50 and 1e"):
                make_policy(name, problems, horizon=50, sigma=sigma)
        for sigma in (1e-50, 1e50):
            policy = make_policy(name, problems, horizon=50, sigma=sigma)
            state = policy.start(USERS)
            play(policy, state, 10)
            np.testing.assert_allclose(policy.probabilities(state).sum(axis=1), 1)


def test_explanations(policy: Policy) -> None:
    state = policy.start(USERS)
    play(policy, state, 12)
    explanation = policy.explain(state, user=3)
    assert [row["arm"] for row in explanation.arms] == list(policy.arms)
    assert [row["plays"] for row in explanation.arms] == state.counts[3].tolist()
    p = np.array([row["probability"] for row in explanation.arms])
    np.testing.assert_allclose(p, policy.probabilities(state)[3], atol=1e-14)
    text = str(explanation)
    assert "user 3" in text
    assert "probability" in text
    assert len(explanation.states) in (0, M)
    with pytest.raises(LobInputError, match="numbered from 0 to 5"):
        policy.explain(state, user=USERS)


def test_orders_per_user_need_no_more_than_themselves(policy: Policy) -> None:
    per_user = getattr(policy, "orders", None)
    if isinstance(per_user, UserOrders):
        assert policy.n_users == USERS
        assert policy.start().n_users == USERS
        with pytest.raises(LobInputError, match="6 users"):
            policy.start(3)
        with pytest.raises(LobInputError, match="one user"):
            policy.to_dict()
        with pytest.raises(LobInputError, match="at least one user"):
            policy.take([])
