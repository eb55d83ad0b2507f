"""RelativeLobTS against the appendix and by hand, its baseline, and what duels cost."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from tests.policies.cases import random_problems
from tests.policies.reference import posterior, sample
from tests.simulation.helpers import fixed

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.paper.duels import (
    DoubleTS,
    DuelPolicy,
    RelativeLobTS,
    duels_from_rewards,
    simulate_duels,
)
from lobandits.simulation import Problems, Synthetic

DAG = LatentOrders.from_relations(4, [[(0, 2), (1, 2), (2, 3)], [(3, 0)], [(2, 1), (1, 0), (0, 3)]])


class RelativeTwin:
    """The appendix on relative feedback: inversions are counted duel by duel.

    A hypothesis is a state with one of its maximal arms on top; that arm is above all others.
    """

    def __init__(self, orders: LatentOrders, rho: float) -> None:
        self.orders, self.rho = orders, rho
        self.duels: list[tuple[int, int]] = []

    def inversions(self, s: int, top: int) -> int:
        above = self.orders[s].precedes
        return sum(
            bool(above[loser, winner]) or (loser == top and not above[winner, loser])
            for winner, loser in self.duels
        )

    def odds(self) -> list[float]:
        items = [
            (s, a)
            for s, order in enumerate(self.orders)
            for a in range(self.orders.n_arms)
            if order.maximal[a]
        ]
        logs = [
            self.inversions(s, a) * math.log(0.5 - self.rho)
            - math.log(self.orders[s].maximal.sum())
            for s, a in items
        ]
        odds = [0.0] * self.orders.n_arms
        for (_, a), weight in zip(items, posterior(logs), strict=True):
            odds[a] += weight
        return odds

    def choose(self, noise: Sequence[float]) -> tuple[int, int]:
        odds = self.odds()
        first, second = (sample(odds, u)[0] for u in noise)
        return first, second

    def record(self, pair: tuple[int, int], winner: int) -> None:
        loser = pair[1] if winner == pair[0] else pair[0]
        if loser != winner:
            self.duels.append((winner, loser))


def assert_same_duels(policy: RelativeLobTS, twins: list[RelativeTwin], rounds: int) -> None:
    rng = np.random.default_rng(0)
    wins = policy.start(len(twins))
    for t in range(rounds):
        pairs = policy.choose(wins, rng=t)
        noise = np.random.default_rng(t).random((len(twins), 2))
        expected = [twin.choose(u) for twin, u in zip(twins, noise.tolist(), strict=True)]
        assert pairs.tolist() == [list(pair) for pair in expected]
        mixed = rng.permuted(np.tile(np.arange(policy.n_arms), (len(twins), 1)), axis=1)[:, :2]
        for duels in (pairs, mixed):
            winners = duels[np.arange(len(twins)), rng.integers(0, 2, len(twins))]
            policy.record(wins, duels, winners)
            for twin, pair, winner in zip(twins, duels.tolist(), winners.tolist(), strict=True):
                twin.record((pair[0], pair[1]), winner)


@pytest.mark.parametrize("rho", [0.0, 0.2, 0.49999])
@pytest.mark.parametrize("q", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("n_arms", "n_states"), [(2, 1), (5, 1), (5, 4)])
def test_agrees_with_the_appendix(n_arms: int, n_states: int, q: float, rho: float) -> None:
    orders = random_problems(n_arms, n_states, 1.0, q, n_users=3).orders
    assert isinstance(orders, UserOrders)
    twins = [RelativeTwin(user, rho) for user in orders]
    assert_same_duels(RelativeLobTS(orders, rho), twins, rounds=40)


def test_agrees_with_the_appendix_on_shared_orders_of_any_kind() -> None:
    assert_same_duels(RelativeLobTS(DAG, 0.1), [RelativeTwin(DAG, 0.1) for _ in range(3)], 40)


def test_one_arm_duels_with_itself() -> None:
    policy = RelativeLobTS(LatentOrders.from_rankings([[0]]), rho=0.1)
    wins = policy.start()
    assert policy.choose(wins, 0).tolist() == [[0, 0]]
    policy.record(wins, [[0, 0]], [0])
    assert policy.probabilities(wins).tolist() == [[[1.0]]]


def test_posterior_by_hand() -> None:
    policy = RelativeLobTS(DAG, rho=0.25)
    wins = policy.start()
    for pair, winner in (([0, 2], 2), ([3, 0], 3), ([0, 1], 1)):
        policy.record(wins, [pair], [winner])
    # state 0: 2 and (implied) 3 stand below 0 and beat it; with 0 on top 1 does so too
    # state 1: 3 beat 0 agrees with it; 2 and 1 beat only 0, which is never on top
    # state 2: 1 beat 0 and 2 beat 0 agree with it, 3 beat 0 does not
    inversions = {(0, 0): 3, (0, 1): 2, (1, 1): 0, (1, 2): 0, (1, 3): 0, (2, 2): 1}
    tops = [2, 3, 1]
    odds = np.zeros(4)
    for (s, a), n in inversions.items():
        odds[a] += 0.25**n / tops[s]
    odds /= odds.sum()
    assert policy.probabilities(wins)[0] == pytest.approx(np.outer(odds, odds))


def test_propensities_are_the_frequencies_of_choices() -> None:
    policy, draws = RelativeLobTS(DAG, rho=0.2), 40_000
    wins = policy.start()
    policy.record(wins, [[0, 2]], [0])
    policy.record(wins, [[3, 0]], [3])
    pairs = policy.choose(wins.repeat(draws, axis=0), rng=1)
    counts = np.zeros((4, 4))
    np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1)
    p = policy.probabilities(wins)[0]
    assert p.sum() == pytest.approx(1)
    assert np.abs(counts / draws - p).max() < 5 * np.sqrt(0.25 / draws)


def test_evidence_decides_between_two_maximal_arms() -> None:
    policy = RelativeLobTS(LatentOrders.from_relations(3, [[(0, 2), (1, 2)]]), rho=0.1)
    wins = policy.start()
    wins[0, 0, 1], wins[0, 1, 0] = 900, 100
    assert policy.probabilities(wins)[0, 0, 0] > 0.999


def test_draws_count_for_nothing() -> None:
    policy = RelativeLobTS(DAG, rho=0.2)
    wins = policy.start(3)
    policy.record(wins, [[0, 1], [2, 3], [1, 1]], [0, -1, 1])
    assert wins.sum(axis=(1, 2)).tolist() == [1, 0, 0]
    assert wins[0, 0, 1] == 1


@pytest.mark.parametrize(
    ("pairs", "winners", "message"),
    [
        ([[0, 1], [0, 4]], [0, 0], r"user 1: arm 0 cannot have won the duel \[0, 4\]"),
        ([[0, 1], [0, 1]], [0, 2], r"user 1: arm 2 cannot have won the duel \[0, 1\]"),
        ([[0, 1]], [0], r"pairs must have shape \(2, 2\)"),
        ([[0, 1], [0, 1]], 0, "shape"),
        ([[0.0, 1.0], [0.0, 1.0]], [0, 0], "whole numbers"),
    ],
)
def test_what_is_refused_is_not_recorded(pairs: Any, winners: Any, message: str) -> None:
    policy = RelativeLobTS(DAG, rho=0.2)
    wins = policy.start(2)
    with pytest.raises(LobInputError, match=message):
        policy.record(wins, pairs, winners)
    assert not wins.any()


@pytest.mark.parametrize("rho", [-0.1, 0.5, 1.0, np.nan])
def test_refuses_margins_without_meaning(rho: float) -> None:
    with pytest.raises(LobInputError, match="rho"):
        RelativeLobTS(DAG, rho)


def test_refuses_wins_of_others() -> None:
    with pytest.raises(LobInputError, match="cannot choose for wins of shape"):
        RelativeLobTS(DAG, 0.1).choose(np.zeros((1, 3, 3), np.int64), 0)
    with pytest.raises(LobInputError, match="orders must be"):
        RelativeLobTS(3)  # type: ignore[arg-type]


def test_duels_are_consecutive_pairs() -> None:
    pairs, winners = duels_from_rewards([3, 1, 2, 2, 0], [1.0, 0.5, 2.0, 2.0, 9.0])
    assert pairs.tolist() == [[3, 1], [2, 2]]
    assert winners.tolist() == [3, 2]
    assert duels_from_rewards([0, 1], [4.0, 4.0])[1].tolist() == [1]


def test_duels_of_many_users_at_once() -> None:
    rng = np.random.default_rng(0)
    arms, rewards = rng.integers(0, 4, (3, 7)), rng.normal(size=(3, 7))
    pairs, winners = duels_from_rewards(arms, rewards)
    assert pairs.shape == (3, 3, 2)
    for user in range(3):
        one, won = duels_from_rewards(arms[user], rewards[user])
        assert one.tolist() == pairs[user].tolist()
        assert won.tolist() == winners[user].tolist()


@pytest.mark.parametrize(("arms", "rewards"), [([0, 1], [1.0]), ([0, 1], [1.0, np.nan]), (0, 1)])
def test_refuses_plays_that_are_none(arms: Any, rewards: Any) -> None:
    with pytest.raises(LobInputError, match="rewards"):
        duels_from_rewards(arms, rewards)


class Same(DuelPolicy):
    """Compares one pair again and again; ``wins`` are what it recorded last."""

    def __init__(self, first: int, second: int) -> None:
        self._set(n_arms=4, pair=(first, second))

    def choose(self, wins: IntArray, rng: np.random.Generator | int) -> IntArray:
        self._set(wins=wins)
        return np.tile(np.array(self.__dict__["pair"]), (len(wins), 1))


@pytest.mark.parametrize("pair", [(0, 1), (2, 0), (3, 2), (1, 1)])
def test_the_better_arm_wins_as_often_as_its_reward_would_be_larger(pair: tuple[int, int]) -> None:
    """Means 3, 2, 1, 0 and sigma 1; an arm that duels itself counts for nothing."""
    policy = Same(*pair)
    regret = simulate_duels(fixed(), {"same": lambda problems: policy}, 250, 16)["same"]
    wins, (a, b) = policy.__dict__["wins"].sum(axis=0), pair
    assert (regret == (a + b) / 2).all()
    n = wins.sum()
    if a == b:
        assert n == 0
    else:
        assert wins[a, b] + wins[b, a] == n >= 249 * 16
        assert wins[a, b] / n == pytest.approx(norm.cdf((b - a) / 2**0.5), abs=0.04)


def of_orders(problems: Problems) -> DuelPolicy:
    return RelativeLobTS(problems.known_orders)


def of_nothing(problems: Problems) -> DuelPolicy:
    return DoubleTS(problems.n_arms)


def halves(regret: FloatArray) -> tuple[float, float]:
    half = regret.shape[1] // 2
    return float(regret[:, :half].mean()), float(regret[:, half:].mean())


def test_orders_save_duels_and_the_baseline_learns() -> None:
    env = Synthetic(n_arms=6, n_states=6)
    regret = simulate_duels(env, {"orders": of_orders, "none": of_nothing}, 200, 64)
    totals = {label: each.sum(axis=1) for label, each in regret.items()}
    less = totals["none"] - totals["orders"]
    assert less.mean() > 5 * less.std() / 8
    assert halves(regret["orders"])[1] < halves(regret["orders"])[0] / 4
    assert halves(regret["none"])[1] < halves(regret["none"])[0] / 2


def test_partial_orders_do_not_make_regret_linear() -> None:
    """Nothing tells two maximal arms apart but duels between them."""
    free = LatentOrders.from_relations(4, [[(0, 2), (1, 2), (2, 3)]])
    regret = simulate_duels(fixed(), {"free": lambda problems: RelativeLobTS(free)}, 400, 32)
    assert regret["free"][:, -100:].mean() < 0.1 * regret["free"][:, :20].mean()


@pytest.mark.parametrize("options", [{"rewards": "bernoulli"}, {"n_contexts": 2}])
def test_only_gaussian_rewards_without_contexts_duel(options: Any) -> None:
    with pytest.raises(LobInputError, match="duels need users with Gaussian rewards"):
        simulate_duels(Synthetic(n_arms=4, n_states=3, **options), {"dts": of_nothing}, 5, 8)
