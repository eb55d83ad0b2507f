"""Warnings about logs, one sentence each."""

import numpy as np

from lobandits.learning import RewardTable
from lobandits.learning.concerns import concerns


def table(n_users: int, arms: list[str], rewards: int = 5) -> RewardTable:
    """Return users who tried all arms so many times."""
    counts = np.full((n_users, len(arms)), rewards)
    return RewardTable(np.arange(n_users), tuple(arms), counts, 1.0 * counts, 1.0 * counts)


def test_good_logs_bring_no_warning() -> None:
    assert concerns(table(20, ["a", "b"]), "cells", "user", "arm") == []


def test_swapped_columns() -> None:
    (found,) = concerns(table(12, [f"u{i}" for i in range(30)]), "cells", "product", "customer")
    assert found == (
        "there are more arms (30) than users (12); are the columns 'product' and 'customer' "
        "swapped?"
    )


def test_prices_are_no_arms() -> None:
    (found,) = concerns(table(200, [f"{i}.99" for i in range(150)]), "cells", "user", "price")
    assert "all 150 arms are numbers; is 'price' the column of arms, or a price" in found
    (found,) = concerns(table(200, [f"p{i}" for i in range(150)]), "cells", "user", "url")
    assert "there are 150 arms; is 'url' the column of arms?" in found


def test_few_rewards_few_users_and_no_repeats() -> None:
    logs = table(20, ["a", "b", "c"], rewards=1)
    counts = logs.counts.copy()
    counts[9:, 2] = 0
    sums = counts.astype(np.float64)
    rare = RewardTable(logs.users, logs.arms, counts, sums, sums)
    assert concerns(rare, "model", "user", "arm") == [
        "most users (20 of 20) have fewer than 5 rewards",
        "1 arm was tried by fewer than 10 users: c",
        "no user has enough repeated rewards from one arm, so sigma rests on the model",
    ]
