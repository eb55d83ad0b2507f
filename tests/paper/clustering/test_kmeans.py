"""k-means with Kendall's tau, and its seeds, against plain loops."""

from itertools import cycle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from tests.paper.clustering import naive
from tests.paper.clustering.planted import as_set, planted

from lobandits.errors import LobInputError
from lobandits.paper.clustering import KendallKMeans, kmeans
from lobandits.paper.clustering.impute import impute
from lobandits.paper.clustering.kendall import pair_signs, rank
from lobandits.paper.clustering.kmeans import iterate, plus_plus

Floats = naive.Floats


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_finds_planted_orders(missing: float) -> None:
    means, orders, states = planted(600, 8, 6, noise=0.3, missing=missing, seed=0)
    model = KendallKMeans(6).fit(means)
    assert as_set(model.rankings_) == as_set(orders)
    assert model.merged_ == 0
    same = model.rankings_[model.labels_] == orders[states]
    assert same.all(axis=1).mean() > 0.98


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_iterations_equal_their_twin(missing: float, seed: int) -> None:
    means, _, _ = planted(60, 5, 3, noise=2.0, missing=missing, seed=seed)
    means = means.round(1)
    users, (filled, _) = pair_signs(means), impute(means)
    np.testing.assert_allclose(filled, naive.impute(means))
    seeds = np.array([0, 1, 2, 3])
    found = iterate(users, filled, seeds, 20, lambda steps: None)
    inertia, rankings = naive.lloyd(means, seeds, 20)
    assert found.inertia == pytest.approx(inertia, abs=1e-12)
    assert found.rankings.tolist() == rankings


def test_result_is_consistent() -> None:
    means, _, _ = planted(300, 7, 5, noise=3.0, missing=0.2, seed=4)
    model = KendallKMeans(12, n_init=2).fit(means)
    assert np.bincount(model.labels_).min() > 0
    assert model.merged_ == 12 - len(model.rankings_)
    assert model.imputed_share_ == pytest.approx(np.isnan(means).mean())
    np.testing.assert_array_equal(model.predict(means), model.labels_)
    np.testing.assert_array_equal(rank(model.centers_), model.rankings_)
    assert len(as_set(model.rankings_)) == len(model.rankings_)
    distances = model.transform(means)
    assert distances.shape == (len(means), len(model.rankings_))
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)
    assert model.inertia_ == pytest.approx(distances.min(axis=1).mean())
    assert model.score(means) == pytest.approx(-model.inertia_)


def test_equal_orders_are_merged_and_reported() -> None:
    means = np.array([[3.0, 2, 1], [1, 2, 3]])[np.arange(20) % 2]
    model = KendallKMeans(6).fit(means)
    assert as_set(model.rankings_) == {(0, 1, 2), (2, 1, 0)}
    assert (model.merged_, model.inertia_) == (4, 0.0)


def test_empty_states_start_again_at_the_farthest_users() -> None:
    means, _, _ = planted(200, 6, 4, noise=0.1, missing=0.0, seed=5)
    users = pair_signs(means)
    seeds = np.zeros(4, dtype=np.int64)  # four times the same order
    found = iterate(users, means, seeds, 50, lambda steps: None)
    assert np.unique(found.labels).size == 4
    assert found.inertia < 0.05


def test_stops_in_a_cycle_and_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two centres that change places in every iteration: labels alternate for ever."""
    means = np.array([[3.0, 2, 1], [1, 2, 3], [2, 3, 1]])
    places = cycle([[1, 0], [0, 1]])
    monkeypatch.setattr(kmeans, "averages", lambda values, labels, m: values[next(places)])
    steps: list[int] = []
    found = iterate(pair_signs(means), means, np.array([0, 1]), 1000, steps.append)
    assert steps == [1, 1, 998]
    assert found.n_iter == 0


def test_more_iterations_are_never_worse_and_come_to_an_end() -> None:
    for seed in range(30):
        means, _, _ = planted(40, 5, 3, noise=4.0, missing=0.5, seed=seed)
        few = KendallKMeans(5, n_init=1, max_iter=3, random_state=seed).fit(means)
        many = KendallKMeans(5, n_init=1, max_iter=1000, random_state=seed).fit(means)
        assert many.inertia_ <= few.inertia_
        assert many.n_iter_ < 100


def test_users_with_one_arm_join_the_largest_state() -> None:
    means, orders, _ = planted(200, 6, 3, noise=0.2, missing=0.0, seed=7)
    lone = np.full((3, 6), np.nan)
    lone[:, 2] = 4.0
    largest = set()
    for seed in range(5):  # which number the largest state has
        model = KendallKMeans(3, random_state=seed).fit(np.vstack([lone, means]))
        assert as_set(model.rankings_) == as_set(orders)
        assert (model.labels_[:3] == np.bincount(model.labels_[3:]).argmax()).all()
        np.testing.assert_array_equal(model.transform(lone), 0.5)
        largest.add(int(model.labels_[0]))
    assert len(largest) > 1


def test_the_same_seed_gives_the_same_result() -> None:
    means, _, _ = planted(200, 6, 4, noise=3.0, missing=0.1, seed=8)
    one, two = (KendallKMeans(10, random_state=3).fit(means) for _ in range(2))
    np.testing.assert_array_equal(one.centers_, two.centers_)
    other = clone(one).set_params(random_state=4).fit(means)
    assert other.get_params()["n_states"] == 10
    assert not np.array_equal(other.labels_, one.labels_)


@pytest.mark.parametrize(
    ("options", "means", "message"),
    [
        ({"n_states": 5}, np.eye(4), "n_states=5 needs as many users, got n_samples=4"),
        ({"n_states": 2}, [[1, 2], [1, np.nan], [np.nan, 1]], "of whom 1 tried two arms"),
        ({"n_states": 0}, np.eye(4), "n_states must be a whole number of at least 1"),
        ({"n_init": 0}, np.eye(9), "n_init"),
        ({"max_iter": 0}, np.eye(9), "max_iter"),
        ({"n_states": 1}, [[1, np.nan], [2, np.nan]], r"no user has a mean for arms \[1\]"),
        ({"n_states": 1}, [[1, 2], [np.nan, np.nan]], r"users \[1\] have no mean at all"),
        ({"n_states": 1}, [[1], [2]], "1 feature"),
        ({"n_states": 1}, [[1, np.inf], [2, 3]], "infinity"),
    ],
)
def test_errors_name_the_value(options: Any, means: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KendallKMeans(**options).fit(means)


def test_wrong_options_are_errors_of_lobandits() -> None:
    with pytest.raises(LobInputError):
        KendallKMeans(n_init=0).fit(np.eye(9))


def test_is_a_scikit_learn_estimator() -> None:
    reason = "its data have two features, so two orders, but three clusters"
    results = check_estimator(
        KendallKMeans(2), expected_failed_checks={"check_clustering": reason}, on_skip=None
    )
    assert len(results) > 30


def test_shows_a_progress_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    KendallKMeans(2, n_init=2, max_iter=10, progress=True).fit(
        np.random.default_rng(0).random((20, 4))
    )
    assert "100% of 20 iterations" in capsys.readouterr().err


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
    monkeypatch.setattr(kmeans, "MOST_USERS", 100)
    means, orders, _ = planted(500, 6, 4, noise=0.2, missing=0.0, seed=6)
    assert as_set(KendallKMeans(4).fit(means).rankings_) == as_set(orders)
