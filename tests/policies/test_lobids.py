import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.cases import assert_same_game, constant, gaussian, random_problems
from tests.policies.reference_ids import LobIDSTwin, two_arms
from tests.projection.cases import KINDS

import lobandits.policies.loss_bounds as module
from lobandits._checks import FloatArray
from lobandits.orders import LatentOrders, PartialOrder, UserOrders
from lobandits.policies import LobIDS, lobids
from lobandits.policies.hypotheses import Inference, open_inference
from lobandits.policies.information_ratio import mix_two_arms
from lobandits.policies.loss_bounds import Losses

MEANS = np.random.default_rng(5).normal(size=(3, 5))
DAGS = LatentOrders.from_relations(
    5, [[(0, 2), (1, 2), (1, 3), (4, 3)], [(0, 1), (0, 3), (1, 4), (3, 4)], [(2, 4), (3, 4)]]
)
TOTALS = [LatentOrders.from_rankings([[0, 1, 2], [2, 0, 1]]), LatentOrders.from_rankings([[0]])]
TREES = LatentOrders.from_relations(5, [[(0, 1), (0, 2), (3, 4)], [(4, 2), (2, 1), (2, 0)]])


@pytest.mark.parametrize("q", [0.0, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("n_states", [1, 4])
@pytest.mark.parametrize("sigma", [0.01, 0.5, 100.0])
def test_agrees_with_the_five_steps(n_states: int, q: float, sigma: float) -> None:
    orders = random_problems(5, n_states, sigma, q, n_users=3).orders
    assert isinstance(orders, UserOrders)
    twins = [LobIDSTwin(user, sigma) for user in orders]
    assert_same_game(LobIDS(orders, sigma), twins, gaussian(MEANS, sigma), rounds=20)


@pytest.mark.parametrize("orders", [DAGS, TREES], ids=["dags", "trees"])
def test_agrees_with_the_five_steps_on_dags_and_trees(orders: LatentOrders) -> None:
    twins = [LobIDSTwin(orders, 0.7) for _ in range(3)]
    assert_same_game(LobIDS(orders, 0.7), twins, gaussian(MEANS, 0.7), rounds=30)


def test_agrees_with_the_five_steps_on_equal_arms_and_on_one_arm() -> None:
    assert_same_game(LobIDS(DAGS, 1.0), [LobIDSTwin(DAGS, 1.0)], constant, rounds=15)
    one = LatentOrders.from_rankings([[0]])
    assert_same_game(LobIDS(one, 1.0), [LobIDSTwin(one, 1.0)], constant, rounds=5)


def relations(order: PartialOrder) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in np.argwhere(order.precedes)]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(st.data())
def test_regret_and_information_on_any_orders(kind: str, data: st.DataObject) -> None:
    """Any plays and averages, also such as no game leads to."""
    k = data.draw(st.integers(2, 5))
    states = data.draw(st.lists(KINDS[kind](k), min_size=1, max_size=3, unique=True))
    orders = LatentOrders.from_relations(k, [relations(state) for state in states])
    plays = data.draw(st.lists(st.integers(0, 40), min_size=k, max_size=k).filter(any))
    averages = data.draw(
        st.lists(st.floats(-3, 3).map(lambda x: round(x, 2)), min_size=k, max_size=k)
    )
    sigma = data.draw(st.sampled_from([0.3, 1.0, 10.0]))
    policy, twin = LobIDS(orders, sigma), LobIDSTwin(orders, sigma)
    state = policy.start()
    state.counts[0] = twin.N = plays
    state.sums[0] = twin.total = [n * x for n, x in zip(plays, averages, strict=True)]
    twin.t = 1 + sum(plays)
    regret, information = twin.judged(twin.rows())
    found = policy.explain(state).arms
    scale = np.ptp([x for n, x in zip(plays, averages, strict=True) if n]) + sigma
    np.testing.assert_allclose([row["regret"] for row in found], regret, atol=1e-6 * scale)
    np.testing.assert_allclose([row["information"] for row in found], information, atol=1e-6)
    odds = np.array([row["probability"] for row in found])
    best = np.array(two_arms(regret, information))
    gain = (odds @ information, best @ information)
    if min(gain) > 1e-6:
        assert (odds @ regret) ** 2 / gain[0] <= (best @ regret) ** 2 / gain[1] * 1.001 + 1e-9


def test_an_explanation_reads_nothing_of_dropped_hypotheses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def poisoned(losses: Losses, k: int) -> Inference:
        inference = open_inference(losses, k)
        inference.hypotheses.weight.fill(np.nan)
        return inference

    monkeypatch.setattr(lobids, "open_inference", poisoned)
    policy = LobIDS(LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]]), sigma=0.1)
    state = policy.start()
    policy.record(state, arms=[0, 1, 2], rewards=[9.0, 5.0, 1.0], users=[0, 0, 0])
    assert [row["weight"] for row in policy.explain(state).states] == [1.0, 0.0]


def test_without_room_for_bounds_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    orders = LatentOrders.from_means(np.random.default_rng(0).normal(size=(12, 5))).reveal(0.8, 0)
    policy = LobIDS(orders, 1.0)

    def play() -> list[list[int]]:
        state, rng, rounds = policy.start(3), np.random.default_rng(2), []
        for _ in range(80):
            arms = policy.choose(state, rng)
            policy.record(state, arms, MEANS[range(3), arms] + rng.normal(size=3))
            rounds.append(arms.tolist())
        return rounds

    bounded = play()
    monkeypatch.setattr(module, "CACHE_LIMIT", 0)
    assert policy.new_state(3).point.shape == (3, 0)
    assert play() == bounded


@pytest.mark.plain
def test_the_first_pull_is_best_on_average() -> None:
    policy = LobIDS(LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0], [1, 2, 0]]), sigma=1.0)
    state = policy.start()
    assert policy.probabilities(state).tolist() == [[0.0, 1.0, 0.0]]
    assert "first pull" in str(policy.explain(state))
    even = LobIDS(LatentOrders.from_rankings([[0, 1], [1, 0]]), sigma=1.0)
    assert even.probabilities(even.start()).tolist() == [[0.5, 0.5]]


@pytest.mark.plain
def test_one_possible_top_is_played_always() -> None:
    policy = LobIDS(LatentOrders.from_rankings([[1, 0, 2], [1, 2, 0]]), sigma=1.0)
    state = policy.start()
    policy.record(state, [0, 1, 2], [3.0, -1.0, 5.0], users=[0, 0, 0])
    assert policy.probabilities(state).tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.plain
def test_plays_an_arm_for_what_it_tells() -> None:
    """Arm 2 is best in no state, but its mean says which state it is."""
    orders = LatentOrders.from_rankings([[0, 1, 2, 3], [1, 0, 3, 2]])
    policy = LobIDS(orders, sigma=1.0)
    state = policy.start()
    policy.record(state, [0, 1, 3], [5.0, 5.0, 1.0], users=0)
    explained = policy.explain(state)
    assert [row["on top"] for row in explained.arms][2:] == [0.0, 0.0]
    assert sum(row["on top"] for row in explained.arms) == pytest.approx(1)
    assert sum(row["weight"] for row in explained.states) == pytest.approx(1)
    assert explained.arms[2]["information"] > 0


@pytest.mark.parametrize("sigma", [1e-50, 1e-3, 1.0, 1e50])
@pytest.mark.parametrize("size", [0.0, 1e-50, 1.0, 1e50])
@pytest.mark.parametrize("orders", [DAGS, TREES, *TOTALS], ids=["dags", "trees", "total", "one"])
def test_any_scale_and_any_plays(orders: LatentOrders, size: float, sigma: float) -> None:
    policy = LobIDS(orders, sigma)
    rng = np.random.default_rng(0)
    for plays in (1, 10**9):
        state = policy.start(50)
        state.counts[:] = plays * rng.integers(0, 3, size=state.counts.shape)
        state.sums[:] = size * rng.normal(size=state.counts.shape) * state.counts
        odds = policy.probabilities(state)
        assert (odds >= 0).all()
        np.testing.assert_allclose(odds.sum(axis=1), 1)
        assert ((odds > 0).sum(axis=1) <= 5).all()


def test_scale_and_shift_change_nothing() -> None:
    """The working prior knows no scale: rewards and sigma in other units, the same choices."""
    orders = random_problems(6, 5, 1.0, 0.8, n_users=None).orders
    rng = np.random.default_rng(1)
    counts, sums = rng.integers(0, 9, size=(40, 6)), rng.normal(size=(40, 6))
    odds = []
    for scale, shift in ((1.0, 0.0), (2.0**-20, 0.0), (2.0**10, 2.0**12)):
        policy = LobIDS(orders, 0.5 * scale)
        state = policy.start(40)
        state.counts[:] = counts
        state.sums[:] = counts * (scale * sums + shift)
        odds.append(policy.probabilities(state))
    np.testing.assert_allclose(odds[1], odds[0], atol=1e-6)
    np.testing.assert_allclose(odds[2], odds[0], atol=1e-5)


amounts = st.one_of(st.just(0.0), st.floats(1e-6, 10), st.sampled_from([0.5, 1.0]))
arms = st.lists(st.tuples(amounts, amounts), min_size=1, max_size=6)


def mixture(regret: FloatArray, information: FloatArray, power: float = 2.0) -> FloatArray:
    out = np.empty(len(regret))
    mix_two_arms(regret, information, np.ones(len(out), np.bool_), power, out)
    return out


def ratio(chances: FloatArray, regret: FloatArray, information: FloatArray, power: float) -> float:
    cost, gain = chances @ regret, chances @ information
    return float(cost**power / gain) if gain else float(cost > 0) * np.inf


@pytest.mark.plain
@given(arms, st.sampled_from([2.0, 2.7, 6.0]))
def test_no_other_mixture_has_a_lower_ratio(pairs: list[tuple[float, float]], power: float) -> None:
    regret, information = np.array(pairs).T.copy()
    chances = mixture(regret, information, power)
    assert chances.min() >= 0
    np.testing.assert_allclose(chances.sum(), 1, rtol=1e-12)
    if regret.min() == 0:
        assert chances @ regret <= 1e-8 * regret.max()
    elif information.max() > 0:
        twin = np.array(two_arms(regret, information, power))
        mine = ratio(chances, regret, information, power)
        assert mine <= ratio(twin, regret, information, power) * (1 + 1e-6)
        for other in np.random.default_rng(0).dirichlet(np.full(len(regret), 0.3), 50):
            assert mine <= ratio(other, regret, information, power) * (1 + 1e-6)


@pytest.mark.plain
def test_equal_arms_share() -> None:
    regret, information = np.array([1.0, 1.0, 5.0]), np.array([0.5, 0.5, 0.6])
    np.testing.assert_allclose(mixture(regret, information), [0.5, 0.5, 0.0])
    nothing = np.zeros(3)
    np.testing.assert_allclose(mixture(regret, nothing), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(mixture(nothing, nothing), [1 / 3] * 3)


@pytest.mark.plain
def test_a_share_for_the_arm_that_tells_most() -> None:
    regret, information = np.array([0.2, 1.0]), np.array([0.01, 1.0])
    p = 0.2 / 0.8 - 2 * 0.01 / 0.99
    np.testing.assert_allclose(mixture(regret, information), [1 - p, p])
    p = (0.2 / 0.8 - 4 * 0.01 / 0.99) / 3
    np.testing.assert_allclose(mixture(regret, information, 4.0), [1 - p, p])
