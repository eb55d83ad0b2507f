"""k-means++ against plain loops."""

import numpy as np
import pytest
from tests.learning import naive
from tests.learning.planted import as_set, planted

from lobandits.learning import KendallKMeans, seeding
from lobandits.learning.imputation import impute
from lobandits.learning.kendall import pair_signs, rank
from lobandits.learning.seeding import plus_plus


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_seeds_equal_their_twin(missing: float) -> None:
    means, _, _ = planted(30, 9, 4, noise=2.0, missing=missing, seed=9)  # sums hardly tie
    users, filled = pair_signs(means), impute(means)[0]
    for seed in range(5):
        found = plus_plus(users, filled, 5, np.random.default_rng(seed))
        assert found.tolist() == naive.plus_plus(means, 5, np.random.default_rng(seed))


def test_seeds_have_different_orders_until_none_is_left() -> None:
    means = np.array([[3.0, 2, 1], [1, 2, 3], [2, 3, 1]])[np.arange(30) % 3]
    users = pair_signs(means)
    for seed in range(20):
        seeds = plus_plus(users, means, 8, np.random.default_rng(seed))
        assert len(seeds) == len(as_set(rank(means[seeds]))) == 3


def test_seeds_of_many_users_are_chosen_among_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeding, "MOST_USERS", 100)
    means, orders, _ = planted(500, 6, 4, noise=0.2, missing=0.0, seed=6)
    assert as_set(KendallKMeans(4).fit(means).rankings_) == as_set(orders)
