"""Mean cumulative regret against an independent implementation (k = m = 15, T = 500).

Its values have standard errors of about three percent.
"""

import math

import pytest

from lobandits.simulation import Synthetic, simulate

REFERENCE = [
    (1.0, 1.0, {"ucb": 122, "ts": 120, "mucb": 62, "mts": 14, "lobucb": 44, "lobts": 35}),
    (1.0, 0.8, {"lobucb": 90, "lobts": 66}),
    (1.0, 0.6, {"lobucb": 129, "lobts": 100}),
    (5.0, 1.0, {"ucb": 620, "ts": 535, "lobucb": 600, "lobts": 165, "mts": 72}),
]
THEIR_ERROR = 0.03


@pytest.mark.parametrize(("sigma", "q", "expected"), REFERENCE)
def test_regret_agrees_with_an_independent_implementation(
    sigma: float, q: float, expected: dict[str, float]
) -> None:
    env = Synthetic(sigma=sigma, q=q)
    result = simulate(env, list(expected), 500, 400, seed=11, progress=False, keep="mean")
    for row in result.summary().rows:
        reference = expected[row["policy"]]
        error = math.hypot(row["error"], THEIR_ERROR * reference)
        assert abs(row["regret"] - reference) <= 4 * error, row


def test_orders_help_users_who_put_other_numbers_on_them() -> None:
    """The heart of the paper: with a scale and shift for each user, means mislead."""
    env = Synthetic(scale=(0.5, 2.0), shift=(-5.0, 5.0))
    result = simulate(env, ["ucb", "mts", "lobts"], 500, 200, progress=False, keep="mean")
    assert result.difference("mts", "lobts").low > 0
    assert result.difference("ucb", "lobts").low > 0
