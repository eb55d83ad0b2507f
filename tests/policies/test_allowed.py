"""Choice sets against twins that know them, on all kinds of orders; what caches must not change."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.cases import Problems, random_problems
from tests.policies.reference import MTSTwin, MUCBTwin, TSTwin, UCBTwin
from tests.policies.reference_lob import LobIMEDTwin, LobTSTwin, LobUCBTwin, TopArmsTwin
from tests.policies.reference_prior import LobBayesTwin, LobIDSTwin, MixTSTwin, PopularTwin
from tests.projection.cases import KINDS

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, PartialOrder
from lobandits.policies import (
    MTS,
    POLICIES,
    TS,
    UCB,
    LobIDS,
    LobIMED,
    LobTS,
    LobUCB,
    Policy,
    State,
    TopArmsUCB,
    make_policy,
)

HORIZON = 60


class Twin(Protocol):
    """One user who may play some arms, in plain Python."""

    allowed: list[bool]

    def chances(self) -> list[float]: ...
    def choose(self, noise: Any, /) -> int: ...
    def record(self, a: int, r: float) -> None: ...


@dataclass(frozen=True)
class Situation:
    """Users with rewards of their own and choice sets of their own."""

    orders: LatentOrders
    sigma: float
    counts: IntArray
    sums: FloatArray
    allowed: BoolArray
    shares: Any  # one number per state, or None

    def state(self, policy: Policy) -> Any:
        state = policy.start(len(self.counts))
        state.counts[:], state.sums[:] = self.counts, self.sums
        return state

    def tell(self, twin: Any, user: int) -> Any:
        """Give a twin the user's rewards and choice set."""
        twin.N, twin.total = self.counts[user].tolist(), self.sums[user].tolist()
        twin.mu = [x / n if n else 0.0 for n, x in zip(twin.N, twin.total, strict=True)]
        twin.t = 1 + sum(twin.N)
        twin.allowed = self.allowed[user].tolist()
        return twin


def latent(states: list[PartialOrder]) -> LatentOrders:
    relations = [[(int(a), int(b)) for a, b in np.argwhere(s.precedes)] for s in states]
    return LatentOrders.from_relations(states[0].n_arms, relations)


def choice_sets(k: int, n_users: int) -> st.SearchStrategy[BoolArray]:
    """One set for each user, none of them empty."""
    one = st.lists(st.booleans(), min_size=k, max_size=k).filter(any)
    return st.lists(one, min_size=n_users, max_size=n_users).map(np.array)


@st.composite
def situations(draw: st.DrawFn, kind: str, with_shares: bool = False) -> Situation:
    k, n_users = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    kinds = st.sampled_from(list(KINDS)) if kind == "mixed" else st.just(kind)
    drawn = kinds.flatmap(lambda name: KINDS[name](k))
    states = draw(st.lists(drawn, min_size=1, max_size=4, unique=True))
    cells = n_users * k
    counts = draw(st.lists(st.integers(0, 12), min_size=cells, max_size=cells))
    means = draw(st.lists(st.integers(-300, 300), min_size=cells, max_size=cells))
    sums = [n * x / 100 for n, x in zip(counts, means, strict=True)]
    share = st.sampled_from([0.0, 0.001, 0.2, 1.0, 3.0])
    some = st.lists(share, min_size=len(states), max_size=len(states)).filter(any)
    return Situation(
        orders=latent(states),
        sigma=draw(st.sampled_from([0.5, 1.0, 4.0])),
        counts=np.array(counts).reshape(n_users, k),
        sums=np.array(sums).reshape(n_users, k),
        allowed=draw(choice_sets(k, n_users)),
        shares=draw(some) if with_shares else None,
    )


MIXED = [*KINDS, "mixed"]
every_kind = pytest.mark.parametrize("kind", MIXED)


def assert_like_twins(policy: Policy, case: Situation, twin: Callable[[], Any]) -> None:
    """The chances of every user are those of the twin."""
    expected = [case.tell(twin(), u).chances() for u in range(len(case.counts))]
    found = policy.probabilities(case.state(policy), case.allowed)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert not found[~case.allowed].any()


@every_kind
@settings(max_examples=25)
@given(st.data())
def test_lobts_takes_losses_among_the_allowed(kind: str, data: st.DataObject) -> None:
    case = data.draw(situations(kind, with_shares=data.draw(st.booleans())))
    policy = LobTS(case.orders, case.sigma, shares=case.shares)
    assert_like_twins(policy, case, lambda: LobTSTwin(case.orders, case.sigma, 1, case.shares))


@every_kind
@settings(max_examples=25)
@given(st.data())
def test_losses_are_those_of_quadprog(kind: str, data: st.DataObject) -> None:
    """Every arm's loss, also such as leave no chance."""
    case = data.draw(situations(kind, with_shares=data.draw(st.booleans())))
    policy = LobTS(case.orders, case.sigma, shares=case.shares)
    state = case.state(policy)
    for u in range(len(case.counts)):
        twin = case.tell(LobTSTwin(case.orders, case.sigma, 1, case.shares), u)
        explained = policy.explain(state, u, allowed=case.allowed)
        losses = np.array([row["loss"] for row in explained.arms], dtype=float)
        np.testing.assert_allclose(losses, twin.losses(), rtol=1e-7, atol=1e-8)


@settings(max_examples=25)
@given(st.data())
def test_of_a_total_order_the_highest_allowed_arm_has_the_full_loss(data: st.DataObject) -> None:
    """By hand: what the other arms say counts, though none of them may be played."""
    case = data.draw(situations("total"))
    policy = LobTS(case.orders, case.sigma)
    state = case.state(policy)
    for u in range(len(case.counts)):
        full = [row["loss"] for row in policy.explain(state, u).states]
        expected = np.full(case.orders.n_arms, math.inf)
        for loss, order in zip(full, case.orders, strict=True):
            ranking = np.argsort(-order.precedes.sum(axis=1))
            highest = next(a for a in ranking if case.allowed[u, a])
            expected[highest] = min(expected[highest], float(loss))
        found = [row["loss"] for row in policy.explain(state, u, allowed=case.allowed).arms]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@every_kind
@settings(max_examples=25)
@given(st.data())
def test_lobimed_takes_its_index_from_the_same_losses(kind: str, data: st.DataObject) -> None:
    case = data.draw(situations(kind, with_shares=data.draw(st.booleans())))
    policy = LobIMED(case.orders, case.sigma, shares=case.shares)
    assert_like_twins(policy, case, lambda: LobIMEDTwin(case.orders, case.sigma, case.shares))


@every_kind
@settings(max_examples=20)
@given(st.data())
def test_lobids_judges_points_among_the_allowed(kind: str, data: st.DataObject) -> None:
    case = data.draw(situations(kind, with_shares=data.draw(st.booleans())))
    policy = LobIDS(case.orders, case.sigma, shares=case.shares)
    assert_like_twins(policy, case, lambda: LobIDSTwin(case.orders, case.sigma, case.shares))


@every_kind
@settings(max_examples=25)
@given(st.data())
def test_lobucb_takes_tops_among_the_allowed_in_feasible_states(
    kind: str, data: st.DataObject
) -> None:
    case = data.draw(situations(kind))
    radius = data.draw(st.sampled_from([0.01, 0.3, 4.0]))
    policy = LobUCB(case.orders, case.sigma, radius=radius)
    assert_like_twins(policy, case, lambda: LobUCBTwin(case.orders, case.sigma, radius=radius))


@every_kind
@settings(max_examples=25)
@given(st.data())
def test_toparms_takes_tops_among_the_allowed_in_any_state(kind: str, data: st.DataObject) -> None:
    case = data.draw(situations(kind))
    policy = TopArmsUCB(case.orders, case.sigma)
    assert_like_twins(policy, case, lambda: TopArmsTwin(case.orders, case.sigma))


@settings(max_examples=25)
@given(situations("total"))
def test_ucb_takes_the_largest_index_of_the_allowed(case: Situation) -> None:
    k = case.orders.n_arms
    assert_like_twins(UCB(k, case.sigma), case, lambda: UCBTwin(k, case.sigma))


def recorded(case: Situation, policy: Policy, twins: Sequence[Any]) -> Any:
    """Rewards as policies and twins record them, in the order of the arms."""
    state = policy.start(len(twins))
    for u, twin in enumerate(twins):
        twin.allowed = case.allowed[u].tolist()
        for a, n in enumerate(case.counts[u].tolist()):
            for _ in range(n):
                policy.record(state, a, case.sums[u, a] / n, users=u)
                twin.record(a, float(case.sums[u, a] / n))
    return state


@settings(max_examples=15)
@given(situations("total"))
def test_ts_takes_the_largest_draw_of_the_allowed(case: Situation) -> None:
    k = case.orders.n_arms
    policy = TS(k, case.sigma, prior_std=5.0)
    twins = [TSTwin(k, case.sigma, prior_std=5.0) for _ in case.counts]
    found = policy.probabilities(recorded(case, policy, twins), case.allowed)
    np.testing.assert_allclose(found, [twin.chances() for twin in twins], atol=1e-7)
    assert not found[~case.allowed].any()


@pytest.mark.parametrize("best_arms_first", [False, True])
@settings(max_examples=25)
@given(st.data())
def test_mts_takes_the_best_allowed_arm_of_a_state(
    best_arms_first: bool, data: st.DataObject
) -> None:
    case = data.draw(situations("total", with_shares=data.draw(st.booleans())))
    means = data.draw(state_means(case.orders.n_states, case.orders.n_arms))
    policy = MTS(means, case.sigma, shares=case.shares, best_arms_first=best_arms_first)
    twins = [MTSTwin(means.tolist(), case.sigma, case.shares, best_arms_first) for _ in case.counts]
    found = policy.probabilities(recorded(case, policy, twins), case.allowed)
    np.testing.assert_allclose(found, [twin.chances() for twin in twins], rtol=1e-8, atol=1e-11)


def state_means(n_states: int, k: int) -> st.SearchStrategy[FloatArray]:
    """Whole numbers, so that arms tie."""
    cells = st.lists(st.integers(-2, 2), min_size=n_states * k, max_size=n_states * k)
    return cells.map(lambda values: np.array(values, dtype=float).reshape(n_states, k))


# Games: a new set for every user in every round ------------------------------------------------

K, M, USERS, SIGMA = 5, 4, 4, 0.8


def random_sets(rng: np.random.Generator, n_users: int = USERS) -> BoolArray:
    """About every third user may play everything."""
    sets = rng.random((n_users, K)) < rng.choice([0.3, 0.6, 1.0], size=(n_users, 1))
    sets[np.arange(n_users), rng.integers(K, size=n_users)] = True
    return sets


def twins_of(problems: Problems) -> dict[str, Callable[[int], Twin]]:
    """The twin of a user, for each policy and variant."""
    orders, means = problems.orders, problems.state_means.tolist()
    return {
        "ucb": lambda u: UCBTwin(K, SIGMA),
        "ts": lambda u: TSTwin(K, SIGMA),
        "mts": lambda u: MTSTwin(means[u], SIGMA),
        "mts(best_arms_first=True)": lambda u: MTSTwin(means[u], SIGMA, best_arms_first=True),
        "mucb": lambda u: MUCBTwin(means[u], SIGMA, HORIZON),
        "mucb(constant=0.1)": lambda u: MUCBTwin(means[u], SIGMA, HORIZON, constant=0.1),
        "toparms": lambda u: TopArmsTwin(orders[u], SIGMA),  # type: ignore[arg-type]
        "lobucb": lambda u: LobUCBTwin(orders[u], SIGMA),  # type: ignore[arg-type]
        "lobucb(refresh_every=5)": lambda u: LobUCBTwin(orders[u], SIGMA, 5),  # type: ignore[arg-type]
        "lobts": lambda u: LobTSTwin(orders[u], SIGMA),  # type: ignore[arg-type]
        "lobts(project_every=5)": lambda u: LobTSTwin(orders[u], SIGMA, 5),  # type: ignore[arg-type]
        "lobimed": lambda u: LobIMEDTwin(orders[u], SIGMA),  # type: ignore[arg-type]
        "lobids": lambda u: LobIDSTwin(orders[u], SIGMA),  # type: ignore[arg-type]
        "popular": lambda u: PopularTwin(problems.prior),
        "mixts": lambda u: MixTSTwin(problems.prior),
        "lobbayes": lambda u: LobBayesTwin(problems.prior),
        "lobbayes(trust=0.7)": lambda u: LobBayesTwin(problems.prior, 0.7),
    }


NAMES = list(twins_of(random_problems(K, M, SIGMA, 1.0, USERS)))


def test_every_policy_has_a_twin() -> None:
    assert {name.partition("(")[0] for name in NAMES} >= set(POLICIES)


@pytest.mark.parametrize("q", [0.5, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_games_with_a_new_set_in_every_round(name: str, q: float) -> None:
    problems = random_problems(K, M, SIGMA, q, USERS, seed=7)
    policy = make_policy(name, problems, horizon=HORIZON)
    twins = [twins_of(problems)[name](u) for u in range(USERS)]
    rng, noises = np.random.default_rng(3), np.random.default_rng(4)
    state = policy.start(USERS)
    for t in range(20):
        sets, noise = random_sets(rng), policy.draw(noises, (USERS,))
        for twin, some in zip(twins, sets.tolist(), strict=True):
            twin.allowed = some
        arms = policy.decide(state, noise, sets).tolist()
        assert arms == [twin.choose(noise[u].tolist()) for u, twin in enumerate(twins)], t
        assert sets[range(USERS), arms].all()
        rewards = problems.state_means[range(USERS), 0, arms] / 2 + SIGMA * rng.normal(size=USERS)
        policy.record(state, arms, rewards)
        for twin, arm, reward in zip(twins, arms, rewards.tolist(), strict=True):
            twin.record(arm, reward)


# What holds for every policy -------------------------------------------------------------------


@pytest.fixture(params=[None, USERS], ids=["shared", "per user"])
def problems(request: pytest.FixtureRequest) -> Problems:
    return random_problems(K, M, SIGMA, 0.5, request.param, seed=4)


@pytest.fixture(params=NAMES)
def policy(request: pytest.FixtureRequest, problems: Problems) -> Policy:
    return make_policy(request.param, problems, horizon=HORIZON)


def play(policy: Policy, state: State, rounds: int, seed: int = 0) -> None:
    """Play rounds with a new set for every user in each."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        arms = policy.choose(state, rng, random_sets(rng, state.n_users))
        policy.record(state, arms, 0.3 * arms + SIGMA * rng.normal(size=state.n_users))


@pytest.mark.parametrize("rounds", [0, 9])
def test_propensities_are_the_frequencies_of_choices(policy: Policy, rounds: int) -> None:
    draws = 3000
    state = policy.start(USERS)
    play(policy, state, rounds)
    sets = random_sets(np.random.default_rng(11))
    p = policy.probabilities(state, sets)
    assert (p >= 0).all()
    assert not p[~sets].any()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    users = np.repeat(np.arange(USERS), draws)
    arms = policy.take(users).choose(state.take(users), rng=5, allowed=sets[users])
    counts = np.zeros((USERS, K))
    np.add.at(counts, (users, arms), 1)
    assert (np.abs(counts / draws - p) <= 5 * np.sqrt(p * (1 - p) / draws) + 5 / draws).all()
    assert not counts[p == 0].any()


def test_all_arms_allowed_is_no_set_at_all(policy: Policy) -> None:
    state = policy.start(USERS)
    for t in range(12):
        play(policy, state, 1, seed=t)
        one, other = state.copy(), state.copy()
        every: list[Any] = [
            np.ones(K, np.bool_),
            [True] * K,
            np.ones((1, K), bool),
            [[True] * K] * USERS,
        ]
        p = policy.probabilities(state)
        for allowed in every:
            np.testing.assert_array_equal(policy.probabilities(state, allowed), p)
        assert policy.choose(one, t).tolist() == policy.choose(other, t, every[t % 4]).tolist()
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(array, getattr(other, name), err_msg=name)


def test_a_batch_equals_its_users_one_by_one(policy: Policy) -> None:
    batch = policy.start(USERS)
    singles = [policy.take([u]) for u in range(USERS)]
    states = [single.start() for single in singles]
    sets_of, together, apart, noise = (np.random.default_rng(seed) for seed in (1, 2, 2, 3))
    for _ in range(12):
        sets = random_sets(sets_of)
        p = policy.probabilities(batch, sets)
        arms = policy.choose(batch, together, sets)
        rewards = 0.3 * arms + SIGMA * noise.normal(size=USERS)
        for u, (single, state) in enumerate(zip(singles, states, strict=True)):
            np.testing.assert_array_equal(single.probabilities(state, sets[u])[0], p[u])
            assert single.choose(state, apart, sets[u]).tolist() == [arms[u]]
            single.record(state, arms[u], rewards[u])
        policy.record(batch, arms, rewards)


def test_one_set_for_all_is_the_same_set_for_each(policy: Policy) -> None:
    state = policy.start(USERS)
    play(policy, state, 8)
    some = [True, False, True, True, False]
    np.testing.assert_array_equal(
        policy.probabilities(state, some), policy.probabilities(state, [some] * USERS)
    )


def test_a_state_that_saw_many_sets_decides_like_one_that_saw_none(policy: Policy) -> None:
    """What a state keeps to save work changes nothing, whatever it was asked before."""
    state, rng = policy.start(USERS), np.random.default_rng(0)
    for t in range(25):
        sets = random_sets(rng) if t % 3 else np.ones((USERS, K), np.bool_)
        fresh = policy.restore(state.to_dict())
        found = policy.probabilities(state, sets)
        np.testing.assert_allclose(found, policy.probabilities(fresh, sets), atol=1e-9)
        arms = policy.choose(state, rng, sets)
        n = int(rng.integers(1, 6))
        users, more = rng.integers(USERS, size=n), rng.integers(K, size=n)
        policy.record(state, arms, 0.3 * arms + SIGMA * rng.normal(size=USERS))
        policy.record(state, more, SIGMA * rng.normal(size=n), users=users)


def test_propensities_and_explanations_change_nothing(policy: Policy) -> None:
    state = policy.start(USERS)
    play(policy, state, 6)
    before, sets = state.copy(), random_sets(np.random.default_rng(1))
    p = policy.probabilities(state, sets)
    for u in range(USERS):
        explained = policy.explain(state, u, allowed=sets)
        np.testing.assert_allclose([row["probability"] for row in explained.arms], p[u], atol=1e-12)
        if not sets[u].all():
            assert [row["allowed"] for row in explained.arms] == sets[u].tolist()
    for name, array in before.arrays().items():
        np.testing.assert_array_equal(array, getattr(state, name), err_msg=name)


def test_one_allowed_arm_is_played(policy: Policy) -> None:
    state = policy.start(USERS)
    play(policy, state, 5)
    only = np.eye(K, dtype=bool)[[3, 0, 4, 2]]
    assert policy.probabilities(state, only).tolist() == only.astype(float).tolist()
    assert policy.choose(state, 0, only).tolist() == [3, 0, 4, 2]


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        ([1, 1, 0, 0, 0], rf"shape \({K},\) or \({USERS}, {K}\), got int64 of shape \({K},\)"),
        ([0.0] * K, "allowed must be True or False for each arm.* got float64"),
        (["0", "1"], r"allowed must be True or False for each arm.* got <U1 of shape \(2,\)"),
        (True, r"got bool of shape \(\)"),
        ([True] * (K - 1), r"got bool of shape \(4,\)"),
        ([[True] * K] * (USERS - 1), r"got bool of shape \(3, 5\)"),
        ([[[True] * K] * USERS], r"got bool of shape \(1, 4, 5\)"),
        ([False] * K, "^allowed allows no arm; every user needs at least one"),
        ([[True] * K] * 2 + [[False] * K] * 2, r"^allowed\[2\] allows no arm"),
    ],
)
def test_other_sets_are_refused(policy: Policy, allowed: Any, message: str) -> None:
    state = policy.start(USERS)
    with pytest.raises(LobInputError, match=message):
        policy.probabilities(state, allowed)
    with pytest.raises(LobInputError, match=message):
        policy.choose(state, 0, allowed)
    with pytest.raises(LobInputError, match=message):
        policy.explain(state, 0, allowed)
    assert state.plays.tolist() == [0] * USERS


@pytest.mark.plain
def test_what_other_arms_told_counts() -> None:
    """The state is settled by arms 0 and 1; of arms 2 and 3, it says which is better."""
    problems = Problems(
        4,
        1.0,
        LatentOrders.from_rankings([[0, 1, 2, 3], [1, 0, 3, 2]]),
        np.array([[4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 1.0, 2.0]]),
    )
    for name in ("lobts", "lobimed", "lobids", "lobucb", "mts"):
        policy = make_policy(name, problems)
        state = policy.start()
        policy.record(state, [0, 1] * 40, [9.0, 1.0] * 40, users=0)
        p = policy.probabilities(state, [False, False, True, True])
        assert p.round(6).tolist() == [[0.0, 0.0, 1.0, 0.0]], name
