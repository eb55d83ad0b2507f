"""LobIMED and LobIDS (k = 15, T = 500), and in the long run.

Values of lobTS and LobIMED are those of prototypes with 200 users. LobIDS has those of its first
prototype, on a prior of lines, as a ceiling: the belief it has now knows more.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from lobandits.simulation import Problems, Synthetic, simulate

PROTOTYPES = [
    (1.0, 15, 1.0, 96, {"lobts": 34.6, "lobimed": 32.4, "lobids": 24.7}),
    (5.0, 100, 1.0, 32, {"lobts": 232, "lobimed": 198, "lobids": 164}),
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
        away = row["regret"] - expected[row["policy"]]
        assert (away if row["policy"] == "lobids" else abs(away)) <= 4 * error, row
    assert result.difference("lobts", "lobids").low > 0


@dataclass(frozen=True)
class Scaled:
    """Users on scales of their own, from 0.5 to 2, with shifts from -5 to 5."""

    users: Synthetic

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        problems = self.users.sample(n, seed, first)
        draws = np.random.default_rng(seed).random((first + n, 2))[first:]
        means = (0.5 + 1.5 * draws[:, :1]) * problems.means + 10 * draws[:, 1:] - 5
        return replace(problems, means=means, state_means=None)


def test_users_with_scales_of_their_own_lose_nothing() -> None:
    """Regret in units of the user's scale is what the prototypes had, or less."""
    expected = {"lobts": 136, "lobimed": 116, "lobids": 87}
    env = Scaled(Synthetic(sigma=5.0))
    result = simulate(env, list(expected), 500, 96, seed=32, progress=False)
    unit = np.ptp(env.sample(96, 32).means, axis=1) / 14
    for name, prototype in expected.items():
        regret = result.regret[name].sum(axis=1) / unit
        error = regret.std(ddof=1) * math.sqrt(1 / 96 + 1 / THEIR_USERS)
        away = regret.mean() - prototype
        assert (away if name == "lobids" else abs(away)) <= 4 * error, (name, regret.mean())
    assert result.difference("lobts", "lobids").low > 0


@pytest.mark.parametrize(("n_states", "q"), [(4, 1.0), (15, 1.0), (6, 0.6)])
def test_no_regret_grows_linearly(n_states: int, q: float) -> None:
    """In the last rounds everybody plays the best arm nearly always."""
    env = Synthetic(n_arms=8, n_states=n_states, q=q)
    result = simulate(env, ["lobimed", "lobids"], 2000, 16, seed=33, progress=False)
    for name in result.policies:
        wrong = (result.regret[name][:, -500:] > 0).mean(axis=1)
        assert wrong.max() < 0.1, (name, np.argmax(wrong))
