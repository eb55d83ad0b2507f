"""The lower bound: closed forms, brute force, inclusion, monotonicity, and the words."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from tests.theory import reference
from tests.theory.cases import random_means, random_orders, random_relations

from lobandits import LobInputError
from lobandits.basics.checks import FloatArray
from lobandits.orders import LatentOrders, UserOrders
from lobandits.theory import regret_lower_bound
from lobandits.theory.graves_lai import find_confusers

SLACK = 1 + 1e-6
DENSITIES = (0.0, 0.2, 0.5, 0.8, 1.0)


def problem(seed: int, most_arms: int = 6, most_states: int = 6) -> tuple[LatentOrders, FloatArray]:
    """A random problem of any shape, whose means agree with state 0."""
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(2, most_arms + 1)), int(rng.integers(1, most_states + 1))
    orders = random_orders(rng, k, m, DENSITIES[seed % len(DENSITIES)])
    return orders, random_means(rng, orders)


def rival_means(rng: np.random.Generator, orders: LatentOrders, means: FloatArray) -> FloatArray:
    """State means in each state's cone; half of them give the best arm its own mean again."""
    table = [means]
    best = int(means.argmax())
    for s in range(1, orders.n_states):
        row = random_means(rng, orders, s)
        table.append(row - row[best] + means[best] if rng.random() < 0.5 else row)
    return np.array(table)


# closed forms ---------------------------------------------------------------------------------


def test_mab_is_the_closed_form() -> None:
    bound = regret_lower_bound([4.0, 3.0, 3.5, 1.0], None, sigma=2.0, kind="mab")
    assert bound.constant == pytest.approx(8 * (1 + 1 / 0.5 + 1 / 3))
    np.testing.assert_allclose(bound.allocation, [0, 8, 32, 8 / 9])
    assert (bound.gap, bound.rounds, bound.state, bound.top) == (0.0, 0, None, 2)
    np.testing.assert_array_equal(bound.instance, [4.0, 3.0, 4.0, 1.0])


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_all_orders_give_the_mab_value(k: int) -> None:
    orders = LatentOrders.from_rankings(list(permutations(range(k))))
    means = np.random.default_rng(k).normal(0, 1, k)
    lob = regret_lower_bound(means, orders, 1.3)
    mab = regret_lower_bound(means, orders, 1.3, "mab")
    assert lob.constant == pytest.approx(mab.constant, rel=1e-7)
    np.testing.assert_allclose(lob.allocation, mab.allocation, rtol=1e-6)


def test_no_relations_at_all_give_the_mab_value() -> None:
    orders = LatentOrders.from_relations(6, [[]])
    means = np.random.default_rng(0).normal(0, 1, 6)
    lob = regret_lower_bound(means, orders, 0.7)
    assert lob.constant == pytest.approx(regret_lower_bound(means, None, 0.7, "mab").constant)
    assert lob.state == 0


@pytest.mark.parametrize("seed", range(20))
def test_one_total_state_costs_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    orders = random_orders(rng, int(rng.integers(1, 9)), 1, 1.0)
    bound = regret_lower_bound(random_means(rng, orders), orders, 1.0)
    assert bound.constant == 0.0
    assert not bound.allocation.any()
    assert (bound.state, bound.top, bound.instance) == (None, None, None)


def test_two_arms_swapped() -> None:
    orders = LatentOrders.from_rankings([[0, 1], [1, 0]])
    bound = regret_lower_bound([1.0, 0.5], orders, sigma=1.0)
    assert bound.constant == pytest.approx(4.0)
    np.testing.assert_allclose(bound.allocation, [0.0, 8.0])
    assert (bound.state, bound.top) == (1, 1)
    np.testing.assert_array_equal(bound.instance, [1.0, 1.0])


# brute force ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(150))
def test_agrees_with_a_general_solver_over_every_state_and_top(seed: int) -> None:
    orders, means = problem(seed)
    bound = regret_lower_bound(means, orders, 1.3)
    assert bound.constant == pytest.approx(reference.lower_bound(means, orders, 1.3), rel=1e-5)
    assert bound.gap <= 1e-7


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_the_papers_ratio_on_a_line_of_proportions(seed: int) -> None:
    """k = 3: min over w of max over lambda of sum w Delta / sum w KL, as Theorem 1 prints it."""
    rng = np.random.default_rng(seed)
    orders = random_orders(rng, 3, 3, DENSITIES[seed % 5])
    means = random_means(rng, orders)
    best = int(means.argmax())
    pairs = list(reference.pairs(orders, best))
    if not pairs:
        return

    def ratio(share: float) -> float:
        weights = np.insert([share, 1 - share], best, 0.0)
        kl = min(reference.nearest(means, weights, orders, *pair)[1] for pair in pairs) / 2
        return float(weights @ (means[best] - means) / kl)

    grid = min((ratio(x), x) for x in np.linspace(1e-6, 1 - 1e-6, 101))[1]
    fine = minimize_scalar(
        ratio,
        bounds=(max(grid - 0.01, 1e-9), min(grid + 0.01, 1 - 1e-9)),
        options={"xatol": 1e-10},
    )
    assert regret_lower_bound(means, orders, 1.0).constant == pytest.approx(fine.fun, rel=1e-5)


@pytest.mark.parametrize("seed", range(100))
def test_solution_is_feasible_and_its_instance_binds(seed: int) -> None:
    orders, means = problem(seed, most_arms=8, most_states=20)
    bound = regret_lower_bound(means, orders, 0.8)
    if bound.instance is None or bound.state is None or bound.top is None:
        assert bound.constant == 0.0
        return
    best = int(means.argmax())
    assert bound.allocation[best] == 0.0
    assert bound.constant == pytest.approx(bound.allocation @ (means[best] - means))
    kl = (bound.instance - means) ** 2 / (2 * 0.8**2)
    assert bound.allocation @ kl == pytest.approx(1.0, abs=1e-5)
    assert bound.instance[best] == means[best]
    assert bound.instance.max() == pytest.approx(bound.instance[bound.top])
    above, below = np.nonzero(orders.precedes[bound.state])
    assert (bound.instance[above] >= bound.instance[below] - 1e-9).all()
    weights = bound.allocation + 1e-10
    for pair in reference.pairs(orders, best):
        loss = reference.nearest(means, weights, orders, *pair)[1] / (2 * 0.8**2)
        assert loss >= 1 - 1e-5


# inclusion and monotonicity -------------------------------------------------------------------


def test_lb_below_lob_below_mab_on_thousands_of_problems() -> None:
    strict = 0
    for seed in range(2000):
        orders, means = problem(seed, most_arms=6, most_states=4)
        table = rival_means(np.random.default_rng(seed), orders, means)
        lb = regret_lower_bound(means, orders, 1.0, "lb", table).constant
        lob = regret_lower_bound(means, orders, 1.0).constant
        mab = regret_lower_bound(means, orders, 1.0, "mab").constant
        assert 0 <= lb <= lob * SLACK
        assert lob <= mab * SLACK
        strict += 0 < lb < lob < mab
    assert strict > 200


@pytest.mark.parametrize("seed", range(60))
def test_adding_a_state_never_lowers_the_bound(seed: int) -> None:
    orders, means = problem(seed)
    rng = np.random.default_rng(seed + 10_000)
    relations = [list(state.relations) for state in orders]
    value = regret_lower_bound(means, orders, 1.0).constant
    for _ in range(3):
        new = random_relations(rng, orders.n_arms, float(rng.choice([0.3, 1.0])))
        if LatentOrders.from_relations(orders.n_arms, [new])[0] in list(orders):
            continue
        relations.append(new)
        orders = LatentOrders.from_relations(orders.n_arms, relations)
        more = regret_lower_bound(means, orders, 1.0).constant
        assert more >= value / SLACK
        value = more


@pytest.mark.parametrize("seed", range(60))
def test_hiding_relations_never_lowers_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(3, 8)), int(rng.integers(1, 8))
    orders = random_orders(rng, k, m, 1.0)
    means = random_means(rng, orders)
    value = regret_lower_bound(means, orders, 1.0).constant
    relations = [list(state.relations) for state in orders]
    for _ in range(4):
        for pairs in relations:
            if pairs:
                pairs.pop(int(rng.integers(len(pairs))))
        fewer = {LatentOrders.from_relations(k, [pairs])[0] for pairs in relations}
        hidden = LatentOrders.stack(sorted(fewer, key=str))
        less_known = regret_lower_bound(means, hidden, 1.0).constant
        assert less_known >= value / SLACK
        value = less_known


@pytest.mark.parametrize(("shift", "scale"), [(1e6, 1e-3), (-5.0, 1e5), (0.0, 1e-120)])
def test_units_do_not_matter(shift: float, scale: float) -> None:
    orders, means = problem(4, most_arms=8)
    base = regret_lower_bound(means, orders, 1.0)
    moved = regret_lower_bound(shift + scale * means, orders, scale * 1.0)
    assert base.constant > 0
    assert moved.constant == pytest.approx(scale * base.constant, rel=1e-5)
    np.testing.assert_allclose(moved.allocation, base.allocation, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_a_very_small_gap_is_certified_all_the_same(gap: float) -> None:
    for seed in range(10):
        orders, means = problem(5 * seed + 4, most_arms=9, most_states=20)
        first, second = (-means).argsort()[:2]
        means[second] = means[first] - gap
        assert regret_lower_bound(means, orders, 1.0).gap <= 1e-6


# the paper's synthetic task -------------------------------------------------------------------


@pytest.mark.parametrize(("m", "expected"), [(2, 0.18), (15, 0.46), (100, 0.86)])
def test_synthetic_task(m: int, expected: float) -> None:
    rng = np.random.default_rng(2024)
    values, k = [], 15
    for _ in range(20):
        rankings = [rng.permutation(k) for _ in range(m)]
        orders = LatentOrders.from_rankings(rankings)
        means = np.empty(k)
        means[rankings[int(rng.integers(m))]] = k - 1.0 - np.arange(k)
        bound = regret_lower_bound(means, orders, 1.0)
        assert bound.gap <= 1e-7
        values.append(bound.constant)
        mab = regret_lower_bound(means, orders, 1.0, "mab").constant
        assert mab == pytest.approx(2 * (1 / np.arange(1, k)).sum())
        assert mab == pytest.approx(6.5, abs=0.01)
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    assert abs(np.mean(values) - expected) < 3 * error + 0.005


def test_synthetic_task_is_free_for_a_latent_bandit() -> None:
    rng = np.random.default_rng(0)
    table = np.array([rng.permutation(15) for _ in range(15)], dtype=float)
    bound = regret_lower_bound(table[3], None, 1.0, "lb", table)
    assert bound.constant == 0.0
    assert "another mean" in bound.note


# latent bandits -------------------------------------------------------------------------------


def test_lb_by_hand() -> None:
    """One rival shares the best arm's mean: play the arm that tells most per regret."""
    table = [[3.0, 2.0, 1.0], [3.0, 2.5, 5.0], [2.0, 9.0, 9.0]]
    bound = regret_lower_bound([3.0, 2.0, 1.0], None, 1.0, "lb", table)
    # per play: arm 1 tells 0.5^2 / 2 for a regret of 1, arm 2 tells 4^2 / 2 for a regret of 2
    assert bound.constant == pytest.approx(2 / 8)
    np.testing.assert_allclose(bound.allocation, [0, 0, 1 / 8])
    assert (bound.state, bound.top) == (1, 2)
    np.testing.assert_array_equal(bound.instance, table[1])


def test_lb_where_a_rival_ties_with_the_best_arm_is_no_rival() -> None:
    bound = regret_lower_bound([3.0, 2.0], None, 1.0, "lb", [[3.0, 2.0], [3.0, 3.0]])
    assert bound.constant == 0.0
    assert "best one in every state" in bound.note


def test_lb_counts_means_that_differ_by_rounding_as_equal() -> None:
    table = np.array([[0.3, 0.1], [0.1 + 0.2, 0.7]])
    assert table[1, 0] != table[0, 0]
    bound = regret_lower_bound(table[0], None, 1.0, "lb", table)
    assert bound.constant == pytest.approx(0.2 * 2 / 0.6**2)


# errors and words -----------------------------------------------------------------------------

ORDERS = LatentOrders.from_rankings([["a", "b", "c"], ["b", "c", "a"]], arms=["a", "b", "c"])


@pytest.mark.parametrize("kind", ["lob", "lb", "mab"])
def test_tied_best_arms_are_refused(kind: str) -> None:
    with pytest.raises(LobInputError, match="'a' and 'b' tie for the best mean"):
        regret_lower_bound([0.3, 0.1 + 0.2, 0.0], ORDERS, 1.0, kind)


def test_means_of_no_state_are_refused_with_the_closest_state() -> None:
    with pytest.raises(LobInputError, match=r"closest is state 0.*break 1 relation.*'b' \(1\)"):
        regret_lower_bound([3.0, 1.0, 2.0], ORDERS, 1.0)


def test_equal_means_agree_with_either_order() -> None:
    bound = regret_lower_bound([3.0, 2.0, 2.0], ORDERS, 1.0)
    assert bound.constant > 0


def test_no_confusing_instance_in_words() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2], [0, 2, 1]])
    bound = regret_lower_bound([3.0, 2.0, 1.0], orders, 1.0)
    assert str(bound) == (
        "LOB lower bound: regret >= 0 log T\nno confusing instance: arm '0' tops every state"
    )


def test_one_arm_in_words() -> None:
    for kind in ("lob", "lb", "mab"):
        bound = regret_lower_bound([1.0], LatentOrders.from_rankings([[0]]), 1.0, kind)
        assert (bound.constant, bound.note[:17]) == (0.0, "there is only one")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"means": [1.0, 2.0]}, "2 values, but the orders have 3 arms"),
        ({"means": [1.0, float("nan"), 2.0]}, r"means\[1\] is nan"),
        ({"means": [[1.0, 2.0, 3.0]]}, "1 axes"),
        ({"means": []}, "empty"),
        ({"means": [1e308, 0.0, -1e308]}, "must not exceed"),
        ({"sigma": 0.0}, "sigma must be positive"),
        ({"sigma": 1e200}, "too far apart in scale"),
        ({"kind": "lobb"}, "did you mean 'lob'"),
        ({"kind": "lb"}, "needs state_means"),
        ({"kind": "lb", "state_means": [[1.0, 2.0]]}, r"shape \(n_states, 3\), got \(1, 2\)"),
        ({"kind": "lb", "state_means": [[3.0, 2.5, 1.0]]}, "closest is state 0, off by 0.5"),
        ({"orders": None}, "needs orders"),
        ({"orders": UserOrders.stack([ORDERS])}, r"orders\[user\]"),
    ],
)
def test_wrong_input_is_named(change: dict[str, object], words: str) -> None:
    arguments: dict[str, object] = {"means": [3.0, 2.0, 1.0], "orders": ORDERS, "sigma": 1.0}
    with pytest.raises(LobInputError, match=words):
        regret_lower_bound(**{**arguments, **change})  # type: ignore[arg-type]


densities = st.sampled_from([0.0, 0.15, 0.4, 0.7, 1.0])


@settings(max_examples=150)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 7), m=st.integers(1, 4), density=densities)
def test_nearest_instance_is_the_quadratic_solvers(
    seed: int, k: int, m: int, density: float
) -> None:
    rng = np.random.default_rng(seed)
    orders = random_orders(rng, k, m, density)
    means = random_means(rng, orders)
    weights = rng.exponential(1.0, k) * 10.0 ** rng.integers(-3, 3, k)
    confusers = find_confusers(orders, int(means.argmax()))
    found = confusers.nearest(means, weights)
    for instance, state, top in zip(found, confusers.states, confusers.tops, strict=True):
        fit, loss = reference.nearest(means, weights, orders, int(state), int(top))
        assert weights @ (instance - means) ** 2 == pytest.approx(loss, rel=1e-7, abs=1e-9)
        np.testing.assert_allclose(instance, fit, rtol=1e-5, atol=1e-5)


@settings(max_examples=150)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 7), m=st.integers(1, 4), density=densities)
def test_the_pairs_kept_stand_for_all_pairs(seed: int, k: int, m: int, density: float) -> None:
    """In each state, the closest instance over the pairs kept is the closest over all tops."""
    rng = np.random.default_rng(seed)
    orders = random_orders(rng, k, m, density)
    means = random_means(rng, orders)
    weights = rng.exponential(1.0, k)
    best = int(means.argmax())
    least = dict.fromkeys(range(orders.n_states), np.inf)
    for s, b in reference.pairs(orders, best):
        least[s] = min(least[s], reference.nearest(means, weights, orders, s, b)[1])
    kept = dict.fromkeys(range(orders.n_states), np.inf)
    confusers = find_confusers(orders, best)
    losses = (confusers.nearest(means, weights) - means) ** 2 @ weights
    for s, loss in zip(confusers.states.tolist(), losses, strict=True):
        kept[s] = min(kept[s], float(loss))
    assert kept == pytest.approx(least, rel=1e-6, abs=1e-9)


@given(seed=st.integers(0, 10**6), density=densities)
def test_instances_lie_in_their_cones_also_with_unplayed_arms(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    orders = random_orders(rng, 6, 3, density)
    means = random_means(rng, orders)
    weights = rng.exponential(1.0, 6) * (rng.random(6) < 0.5)
    best = int(means.argmax())
    confusers = find_confusers(orders, best)
    found = confusers.nearest(means, weights)
    assert np.array_equal(found[:, best], np.full(len(found), means[best]))
    for instance, state, top in zip(found, confusers.states, confusers.tops, strict=True):
        assert instance[top] == instance.max()
        above, below = np.nonzero(orders.precedes[state])
        assert (instance[above] >= instance[below] - 1e-9).all()


def test_zero_weights_are_the_limit_of_small_ones() -> None:
    rng = np.random.default_rng(5)
    orders = random_orders(rng, 6, 5, 0.5)
    means = random_means(rng, orders)
    weights = np.array([1.0, 0.0, 2.0, 0.0, 0.5, 3.0])
    confusers = find_confusers(orders, int(means.argmax()))
    zero = (confusers.nearest(means, weights) - means) ** 2 @ weights
    small = weights + 1e-9
    limit = (confusers.nearest(means, small) - means) ** 2 @ small
    np.testing.assert_allclose(zero, limit, atol=1e-7)


def test_which_pairs_confuse() -> None:
    orders = LatentOrders.from_relations(
        4,
        [
            [(0, 1), (0, 2)],  # leaves 0 and 3 on top: 3 confuses
            [(1, 0), (2, 1)],  # 2 above 1 above 0: one pair, though 3 could be on top too
            [(0, 1), (0, 2), (0, 3)],  # 0 on top: nothing confuses
        ],
    )
    confusers = find_confusers(orders, best=0)
    assert confusers.states.tolist() == [0, 1]
    assert confusers.tops.tolist() == [3, 2]
    assert confusers.lifted.tolist() == [[False, False, False, True], [False, True, True, False]]
