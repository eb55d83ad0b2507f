import math

import numpy as np
import pytest
from scipy.special import zeta

from lobandits import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.theory import UpperBound, lobucb_regret_bound, toparms_regret_bound
from lobandits.theory.upper_bound import BAD_ROUNDS

ORDERS = LatentOrders.from_rankings([[0, 1, 2, 3], [1, 0, 2, 3], [2, 3, 1, 0]])
MEANS = [4.0, 3.5, 3.0, 0.0]


def test_printed_constants_of_theorem_2() -> None:
    bound = lobucb_regret_bound(MEANS, ORDERS, sigma=2.0, horizon=500)
    log_t = math.log(500)
    failures = 3 * math.pi**2 / 3 * 4.0  # q = 3 arms; the largest gap is that of arm 3
    assert bound.q == 3
    assert bound.constant == pytest.approx(failures)
    assert bound.instance_bound == pytest.approx(16 * 4 * log_t * (1 / 0.5 + 1 / 1.0) + failures)
    assert bound.worst_case == pytest.approx(8 * 2 * math.sqrt(3 * 500 * log_t) + failures)
    assert bound.trivial == pytest.approx(500.0)
    np.testing.assert_allclose(bound.per_arm, [0, 128 * log_t, 64 * log_t, 0])


def test_corrected_constants_of_theorem_2() -> None:
    bound = lobucb_regret_bound(MEANS, ORDERS, sigma=2.0, horizon=500, constant="corrected")
    log_t = math.log(500)
    assert bound.constant == pytest.approx(3 * 2 * log_t * 1.0 + 0.5 + 1.0)
    assert bound.instance_bound == pytest.approx(192 * log_t + bound.constant)
    long = lobucb_regret_bound(MEANS, ORDERS, 2.0, 10**9, "corrected")
    assert long.constant == pytest.approx(3 * BAD_ROUNDS + 1.5)


def test_bad_rounds_is_the_peeling_sum() -> None:
    """2 sum_{t >= 2} (1 + log t / log b) t^(-2/b) at b = 5/4, by zeta and its derivative."""
    s, step = 1.6, 1e-6
    slope = (zeta(s + step) - zeta(s - step)) / (2 * step)
    exact = 2 * (zeta(s) - 1 - slope / math.log(1.25))
    assert exact <= BAD_ROUNDS <= exact + 0.02


def test_intervals_fail_no_more_often_than_the_corrected_count() -> None:
    """One arm, any number of plays: rounds t in which some N < t has left its interval."""
    rng = np.random.default_rng(0)
    horizon = 300
    sums = rng.normal(size=(500, horizon)).cumsum(axis=1)
    n = np.arange(1, horizon + 1)
    score = np.maximum.accumulate(sums**2 / n, axis=1)  # max over N <= n of N (error / sigma)^2
    failed = score[:, :-1] > 4 * np.log(n[1:])
    assert failed.sum(axis=1).mean() <= min(2 * math.log(horizon), BAD_ROUNDS)


def test_the_worst_case_is_the_best_split() -> None:
    """T e + 16 q sigma^2 log T / e, minimised over e by brute force."""
    q, sigma, horizon = 3, 2.0, 500
    e = np.geomspace(1e-4, 1e4, 200_001)
    split = (horizon * e + 16 * q * sigma**2 * math.log(horizon) / e).min()
    bound = lobucb_regret_bound(MEANS, ORDERS, sigma, horizon)
    assert bound.worst_case - bound.constant == pytest.approx(split)


def test_q_counts_the_tops_of_partial_orders() -> None:
    """One state of five free arms: q = 5, not min(k, m) = 1."""
    orders = LatentOrders.from_relations(5, [[]])
    assert lobucb_regret_bound([5.0, 4.0, 3.0, 2.0, 1.0], orders, 1.0, 10).q == 5


def test_toparms_constant_is_the_best_of_all_splits() -> None:
    """C(T) = min over e of A / (1 - e)^2 + S / e^2, and S bounds its sum."""
    for horizon in (2, 10, 500, 10**6):
        log_t = math.log(horizon)
        upper = 2 * (log_t + math.sqrt(math.pi * log_t) + 1)
        lower = 1 / (2 * math.log(2)) + math.log(log_t / math.log(2))
        t = np.arange(2, horizon + 1)
        assert (1 / (t * np.log(t))).sum() <= lower + 1e-12
        e = np.linspace(1e-4, 1 - 1e-4, 100_001)
        best = (upper / (1 - e) ** 2 + lower / e**2).min()
        bound = toparms_regret_bound(MEANS, ORDERS, 1.5, horizon)
        np.testing.assert_allclose(bound.per_arm, 1.5**2 * best * np.array([0, 2, 1, 0]), rtol=1e-6)
        assert bound.constant == pytest.approx(2 * (0.5 + 1.0))
        worst = 2 * math.sqrt(2 * horizon * 1.5**2 * best)
        assert bound.worst_case == pytest.approx(worst + 3.0, rel=1e-6)


def test_toparms_tends_to_the_lower_bound_on_its_arms() -> None:
    """C(T) / log T goes to 2, slowly."""
    ratios = [
        toparms_regret_bound(MEANS, ORDERS, 1.0, 10**n).per_arm[2] / math.log(10**n)
        for n in (2, 10, 100, 300)
    ]
    assert ratios == sorted(ratios, reverse=True)
    assert 2 < ratios[-1] < 5


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_ucb_on_the_top_arms_stays_below_its_bound(sigma: float) -> None:
    rng = np.random.default_rng(1)
    users, horizon = 400, 300
    means = np.array(MEANS)[ORDERS.tops]
    counts, sums = np.zeros((users, 3)), np.zeros((users, 3))
    regret = np.zeros(users)
    for t in range(1, horizon + 1):
        with np.errstate(divide="ignore", invalid="ignore"):
            index = sums / counts + sigma * np.sqrt(2 * np.log(t) / counts)
        arm = np.where(np.isnan(index) | (counts == 0), np.inf, index).argmax(axis=1)
        rows = np.arange(users)
        sums[rows, arm] += rng.normal(means[arm], sigma)
        counts[rows, arm] += 1
        regret += means.max() - means[arm]
    bound = toparms_regret_bound(MEANS, ORDERS, sigma, horizon)
    assert regret.mean() <= bound.regret


@pytest.mark.parametrize("function", [lobucb_regret_bound, toparms_regret_bound])
def test_tied_best_arms_cost_nothing(function: object) -> None:
    assert callable(function)
    bound = function([4.0, 4.0, 3.0, 0.0], ORDERS, 1.0, 100)
    assert isinstance(bound, UpperBound)
    assert bound.per_arm[1] == 0.0
    assert math.isfinite(bound.regret)


@pytest.mark.parametrize("horizon", [1, 2, 10**12])
def test_bounds_are_finite_and_ordered_in_time(horizon: int) -> None:
    for bound, later in (
        (lobucb_regret_bound(MEANS, ORDERS, 1.0, t) for t in (horizon, horizon + 1)),
        (toparms_regret_bound(MEANS, ORDERS, 1.0, t) for t in (horizon, horizon + 1)),
    ):
        assert 0 <= bound.instance_bound <= later.instance_bound < math.inf
        assert bound.regret == min(bound.instance_bound, bound.worst_case, bound.trivial)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"means": [0.0, 4.0, 1.0, 2.0]}, "agree with no state's order"),
        ({"means": [1.0]}, "4 arms"),
        ({"sigma": -1.0}, "sigma"),
        ({"sigma": 1e200}, "scale"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 2.5}, "horizon"),
        ({"horizon": 10**400}, "horizon"),
        ({"orders": UserOrders.stack([ORDERS])}, r"orders\[user\]"),
    ],
)
def test_wrong_input_is_named(change: dict[str, object], words: str) -> None:
    arguments: dict[str, object] = {
        "means": MEANS,
        "orders": ORDERS,
        "sigma": 1.0,
        "horizon": 100,
    }
    for function in (lobucb_regret_bound, toparms_regret_bound):
        with pytest.raises(LobInputError, match=words):
            function(**{**arguments, **change})  # type: ignore[arg-type]


def test_unknown_constant_is_named() -> None:
    with pytest.raises(LobInputError, match="did you mean 'printed'"):
        lobucb_regret_bound(MEANS, ORDERS, 1.0, 100, "print")
