"""Replays against plain loops, and against the truth."""

import numpy as np
import pytest

import lobandits as lob
from lobandits.evaluation.histories import Histories
from lobandits.evaluation.replay import Replay, Replays, replay


def histories(means: list[float], n: int, sizes: int, seed: int) -> Histories:
    """Return users of the same means, who were given arms at random."""
    rng = np.random.default_rng(seed)
    arms = rng.integers(len(means), size=n * sizes)
    rewards = np.array(means)[arms] + rng.standard_normal(n * sizes)
    first = np.arange(n + 1) * sizes
    return Histories(first, arms, rewards, np.full(n * sizes, 1 / len(means)))


def naive_queues(past: Histories, plan: list[int], horizon: int) -> list[list[float]]:
    """Play a plan that asks for the same arms of everybody, with plain lists."""
    found = []
    for u in range(past.n_users):
        rows = range(past.first[u], past.first[u + 1])
        queues = {a: [past.rewards[i] for i in rows if past.arms[i] == a] for a in set(plan)}
        earned = []
        for arm in plan[:horizon]:
            if not queues[arm]:
                break
            earned.append(queues[arm].pop(0))
        found.append(earned)
    return found


def test_queues_equal_plain_lists() -> None:
    past = histories([0.0, 1.0], n=6, sizes=9, seed=0)
    means, own = np.array([[0.0, 1.0]]), np.ones(2)
    args = np.ones(1), means, own[:, None], own, np.zeros(1), lob.Gaussian(1.0)
    prior = lob.Prior(("0", "1"), *args)
    rewards = replay(lob.Popular(prior), past, 6, "queues", 0)
    for row, expected in zip(rewards, naive_queues(past, [1] * 6, 6), strict=True):
        np.testing.assert_array_equal(row[~np.isnan(row)], expected)
        assert np.isnan(row[len(expected) :]).all()


@pytest.mark.parametrize("way", ["queues", "rejection"])
def test_replays_earn_what_simulations_do(way: str) -> None:
    means, horizon, n = [0.0, 1.0], 4, 1500
    past = histories(means, n, 40, seed=1)
    policy = lob.TS(2, 1.0)
    found = replay(policy, past, horizon, way, seed=2)
    assert (~np.isnan(found)).all()
    env = lob.FixedProblems(means, lob.LatentOrders.from_rankings([[0, 1]]), 1.0)
    result = lob.simulate(env, [policy], horizon, n, seed=3, progress=False)
    expected = 1 - next(iter(result.regret.values()))
    gap = found.sum(axis=1).mean() - expected.sum(axis=1).mean()
    error = np.sqrt((found.sum(axis=1).var() + expected.sum(axis=1).var()) / n)
    assert abs(gap) < 4 * error


def test_who_runs_out_is_bounded_and_never_left_out() -> None:
    mine = Replay(np.array([[1.0, 1.0], [1.0, np.nan]] * 40))
    theirs = Replay(np.array([[0.0, 0.0], [0.0, 0.0]] * 40))
    found = Replays("queues", {"a": mine, "b": theirs}, np.full(80, 2), (0.0, 1.0))
    least, most = mine.bounds(2, 0.0, 1.0)
    assert least.tolist()[:2] == [2.0, 1.0]
    assert most.tolist()[:2] == [2.0, 2.0]
    assert found.reached("a", 2) == (40, 80)
    gain = found.gain("a", "b", 2)
    assert not isinstance(gain, str)
    assert gain.low < 1.5 < 2.0 <= gain.high
    few = Replay(np.array([[1.0, np.nan]] * 79 + [[1.0, 1.0]]))
    rare = Replays("queues", {"a": few, "b": theirs}, np.full(80, 2), (0.0, 1.0))
    assert rare.gain("a", "b", 2) == "only 1 of 80 users with 2 rewards reach round 2"
