"""LobIMED and LobIDS against their prototypes (k = 15, T = 500, 200 users), and in the long run."""

import math

import numpy as np
import pytest

from lobandits.simulation import Synthetic, simulate

PROTOTYPES = [
    (1.0, 15, 1.0, 160, {"lobts": 34.6, "lobimed": 32.4, "lobids": 24.7}),
    (1.0, 100, 1.0, 96, {"lobts": 51, "lobimed": 47.5, "lobids": 40.2}),
    (1.0, 15, 0.8, 96, {"lobts": 68, "lobimed": 60, "lobids": 50.5}),
    (5.0, 15, 1.0, 160, {"lobts": 156, "lobimed": 128, "lobids": 97}),
    (5.0, 100, 1.0, 48, {"lobts": 232, "lobimed": 198, "lobids": 164}),
    (5.0, 15, 0.8, 48, {"lobts": 327, "lobimed": 263, "lobids": 202}),
]
THEIR_USERS = 200


@pytest.mark.parametrize(("sigma", "m", "q", "n_users", "expected"), PROTOTYPES)
def test_regret_agrees_with_the_prototypes(
    sigma: float, m: int, q: float, n_users: int, expected: dict[str, float]
) -> None:
    env = Synthetic(n_states=m, sigma=sigma, q=q)
    result = simulate(env, list(expected), 500, n_users, seed=31, progress=False, keep="mean")
    for row in result.summary().rows:
        error = row["error"] * math.sqrt(1 + n_users / THEIR_USERS)
        assert abs(row["regret"] - expected[row["policy"]]) <= 4 * error, row
    assert result.difference("lobts", "lobids").low > 0


@pytest.mark.parametrize("sigma", [1.0, 5.0])
def test_users_with_scales_of_their_own_lose_nothing(sigma: float) -> None:
    env = Synthetic(sigma=sigma, scale=(0.5, 2.0), shift=(-5.0, 5.0))
    names = ["lobts", "lobimed", "lobids"]
    result = simulate(env, names, 500, 160, seed=32, progress=False, keep="mean")
    assert result.difference("lobts", "lobimed").low > 0
    assert result.difference("lobimed", "lobids").low > 0


@pytest.mark.parametrize(("n_states", "q"), [(4, 1.0), (15, 1.0), (6, 0.6)])
def test_no_regret_grows_linearly(n_states: int, q: float) -> None:
    """In the last rounds everybody plays the best arm nearly always."""
    env = Synthetic(n_arms=8, n_states=n_states, q=q)
    result = simulate(env, ["lobimed", "lobids"], 2000, 40, seed=33, progress=False)
    for name in result.policies:
        wrong = (result.regret[name][:, -500:] > 0).mean(axis=1)
        assert wrong.max() < 0.1, (name, np.argmax(wrong))
