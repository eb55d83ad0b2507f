"""Ratings with several seeds: which rows share a seed, which a user, and what movies remain."""

from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from lobandits.paper.parts import GENERATED, RatingData, Record, Simulation, joined

SMALL = Path(__file__).parents[3].parent / "shared" / "data" / "ml-latest-small"
OPTIONS: dict[str, Any] = {"n_states": 5, "alpha": 1.0}


def run(
    ratings: RatingData, environment: str = "movielens", n_users: int = 20, n_seeds: int = 1
) -> Record:
    part = Simulation(environment, OPTIONS, ("ucb",), 20, n_users)
    return joined([part.run(each, Event()) for each in ratings.draws(n_seeds)])


def test_generated_users_are_others_for_each_seed() -> None:
    found = run(RatingData(), n_seeds=3)
    assert found.groups["seed"].tolist() == np.repeat([0, 1, 2], 20).tolist()
    assert len(set(found.groups["user"])) == 60
    assert len(found.cpu_seconds["ucb"]) == 3
    assert found.drawn == "20 users for each of 3 seeds, 0 to 2"
    alone = run(RatingData(seed=1))
    np.testing.assert_array_equal(found.total("ucb")[20:40], alone.total("ucb"))
    assert not alone.groups


@pytest.mark.skipif(not SMALL.exists(), reason="ml-latest-small is not beside the repository")
def test_real_users_come_again_and_no_more_than_there_are() -> None:
    found = run(RatingData(SMALL), n_users=1000, n_seeds=2)
    assert found.n_users == 2 * 201
    first, second = found.groups["user"].reshape(2, 201)
    assert sorted(first) == sorted(second) == list(range(201))
    assert first.tolist() != second.tolist()


@pytest.mark.skipif(not SMALL.exists(), reason="ml-latest-small is not beside the repository")
def test_movies_that_remain_are_counted() -> None:
    ratings = RatingData(SMALL)
    least_of_movie, least_of_user = ratings.filters
    rows = np.column_stack([ratings.ratings.ratings[c].to_numpy() for c in ("userId", "movieId")])
    _, place, n = np.unique(rows[:, 1], return_inverse=True, return_counts=True)
    rows = rows[n[place] >= least_of_movie]
    _, place, n = np.unique(rows[:, 0], return_inverse=True, return_counts=True)
    assert ratings.count_movies() == len(set(rows[n[place] >= least_of_user, 1].tolist()))


def test_users_without_states_do_not_depend_on_the_ratings_at_hand() -> None:
    one, other = (run(RatingData(generator=g), "gaussian") for g in ("planted", "gaussian"))
    np.testing.assert_array_equal(one.total("ucb"), other.total("ucb"))
    assert RatingData(generator="gaussian").name == GENERATED["gaussian"]
