"""Users who change: phases that depend on the seed alone, regret against the best of the round."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.simulation.problems import Problems

OWN: dict[str, Any] = {"scale": (0.5, 2.0), "shift": (-1.0, 1.0)}


def phase(env: lob.Synthetic, number: int, n: int = 16, first: int = 0) -> Problems:
    changes = env.sample(n, 3, first).changes
    assert changes is not None
    return changes.phase(number)


def test_a_new_state_is_drawn_again_and_again() -> None:
    env = lob.Synthetic(4, 5, change_every=10, **OWN)
    states = np.array([phase(env, number, n=400).states for number in range(4)])
    assert states[0].tolist() == env.sample(400, 3).states.tolist()
    for before, after in pairwise(states):
        assert abs((before == after).mean() - 1 / 5) < 0.1
    scaled = phase(env, 2)
    assert scaled.orders == env.sample(16, 3).orders
    spread = np.ptp(scaled.means, axis=1)
    np.testing.assert_allclose(spread, np.ptp(env.sample(16, 3).means, axis=1))


def test_a_new_scale_keeps_the_state() -> None:
    env = lob.Synthetic(4, 5, change_every=10, change="scale", **OWN)
    first, second = phase(env, 0), phase(env, 1)
    assert first.states.tolist() == second.states.tolist()
    assert (np.ptp(first.means, axis=1) != np.ptp(second.means, axis=1)).all()
    assert first.means.argsort(axis=1).tolist() == second.means.argsort(axis=1).tolist()


def test_drift_is_a_random_walk() -> None:
    env = lob.Synthetic(4, 5, change_every=10, change="drift", drift=0.2, gamma=2.0)
    start = phase(env, 0, n=200).means
    for number in (1, 9):
        moved = phase(env, number, n=200).means - start
        assert moved.std() == pytest.approx(0.4 * np.sqrt(number), rel=0.1)


@pytest.mark.parametrize("change", ["state", "scale", "drift"])
def test_users_change_alike_in_any_chunk(change: str) -> None:
    env = lob.Synthetic(4, 5, change_every=10, change=change, **OWN)
    whole = phase(env, 3, n=24).means
    assert phase(env, 3, n=8, first=16).means.tobytes() == whole[16:].tobytes()
    runs = [
        lob.simulate(env, ["ucb"], 35, 24, seed=1, chunk_size=size, progress=False)
        for size in (8, 24)
    ]
    assert runs[0].regret["ucb"].tobytes() == runs[1].regret["ucb"].tobytes()


def test_regret_is_against_the_best_of_the_round() -> None:
    """A policy that always plays the first best arm regrets nothing, until the first change."""
    env = lob.Synthetic(4, 5, change_every=10)
    best = env.sample(16, 0).best

    def stay(problems: Problems) -> lob.Policy:
        means = np.zeros((problems.n_users, 1, 4))
        means[np.arange(problems.n_users), 0, problems.best] = 1.0
        return lob.MTS(means, sigma=1.0)

    regret = lob.simulate(env, {"stay": stay}, 30, 16, progress=False).regret["stay"]
    assert (regret[:, :10] == 0).all()
    changes = env.sample(16, 0).changes
    assert changes is not None
    for number in (1, 2):
        gaps = changes.phase(number).gaps[np.arange(16), best]
        assert (regret[:, 10 * number : 10 * number + 10] == gaps[:, None]).all()


def test_who_forgets_regrets_less_after_a_change() -> None:
    env = lob.Synthetic(5, 5, change_every=100)
    result = lob.simulate(env, ["ts", "ts(half_life=30)"], 400, 64, progress=False)
    assert result.difference("ts(half_life=30)", "ts", level=0.999).high < 0


def test_without_changes_everything_is_as_it_was() -> None:
    assert lob.Synthetic(4, 5).sample(8, 0).changes is None
    assert "change" not in repr(lob.Synthetic(4, 5))
    assert "change_every=10, change='state'" in repr(lob.Synthetic(4, 5, change_every=10))


def test_refusals() -> None:
    with pytest.raises(LobInputError, match="change_every"):
        lob.Synthetic(change_every=-1)
    with pytest.raises(LobInputError, match="change"):
        lob.Synthetic(change_every=5, change="mood")
    with pytest.raises(LobInputError, match="all users have the same"):
        lob.Synthetic(change_every=5, change="scale")
    with pytest.raises(LobInputError, match="leave"):
        lob.Synthetic(change_every=5, change="drift", rewards="bernoulli")
    env = lob.Synthetic(3, 3, change_every=5)
    with pytest.raises(LobInputError, match="sample them anew"):
        env.sample(8, 0).take([0])
    result = lob.simulate(env, ["ucb"], 5, 8, progress=False)
    with pytest.raises(LobInputError, match="users change"):
        result.lower_bound()
