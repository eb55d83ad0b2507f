"""A learned model: its file, and the states of new users."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.learning import naive
from tests.learning.helpers import COLUMNS, in_half

import lobandits as lob
from lobandits.priors import Prior

OTHER = Prior(
    ("x", "z"), np.full(2, 0.5), np.array([[3.0, 1], [1, 3]]), np.eye(2), 0.5, np.full(2, 0.2), 1.0
)
CURVE: dict[str, Any] = {
    "n_states": [1, 2], "evidence": [-2, -1], "gain": [0, 1], "error": [0, 0.1], "chosen": 2,
}  # fmt: skip


def learned(users: Any = (7, 8, 9), relations: Any = "total") -> lob.OrderModel:
    logs = pl.DataFrame(
        {
            "user": [u for u in users for _ in range(2)],
            "arm": ["x", "é$y$"] * len(users),
            "reward": [4.0, 1.0, 3.5, 2.0, 2.0, 5.0],
        }
    )
    return lob.learn_orders(logs, n_states=2, method="kendall", relations=relations)


@pytest.mark.parametrize(
    "users", [(7, 8, 9), (2**63, 2**63 + 1, 2**64 - 1), ("b", "é", "z"), (0.5, 1.0, 2.0)]
)
@pytest.mark.parametrize("relations", ["total", "confident"])
def test_a_model_comes_back_as_it_was(tmp_path: Path, users: Any, relations: Any) -> None:
    model = learned(users, relations)
    model.save(tmp_path / "model.json", users=True)
    again = lob.OrderModel.load(tmp_path / "model.json")
    assert again.orders == model.orders
    assert again.users.tolist() == model.users.tolist()
    for field in ("labels", "state_means", "sizes"):
        np.testing.assert_array_equal(getattr(again, field), getattr(model, field))
    assert repr(again) == repr(model)
    assert lob.LatentOrders.load(tmp_path / "model.json") == model.orders


@pytest.fixture(scope="module")
def with_prior() -> lob.OrderModel:
    return lob.learn_orders(lob.make_ratings(150, 5, 2, seed=3).table, **COLUMNS)


@pytest.mark.parametrize("users", [False, True])
def test_prior_and_curve_come_back(with_prior: lob.OrderModel, tmp_path: Path, users: bool) -> None:
    with_prior.save(tmp_path / "model.json", users=users)
    again = lob.OrderModel.load(tmp_path / "model.json")
    assert again.prior == with_prior.prior == Prior.load(tmp_path / "model.json")
    assert again.orders == with_prior.orders == lob.LatentOrders.load(tmp_path / "model.json")
    assert str(again.curve) == str(with_prior.curve)
    assert again.sigma_from == "cells"
    assert repr(again) == repr(with_prior)
    assert len(again.users) == len(again.labels) == (150 if users else 0)
    np.testing.assert_array_equal(again.sizes, with_prior.sizes)
    means = with_prior.state_means
    np.testing.assert_array_equal(again.predict(means), with_prior.predict(means))


def test_no_user_is_in_the_file_unless_asked_for(tmp_path: Path) -> None:
    model = learned(("ann@x.org", "bob@x.org", "eve@x.org"))
    model.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert "x.org" not in text
    assert "labels" not in text
    again = lob.OrderModel.load(tmp_path / "model.json")
    assert (len(again.users), len(again.labels)) == (0, 0)
    assert (again.n_users, again.sizes.tolist()) == (3, model.sizes.tolist())
    model.save(tmp_path / "model.json", users=True)
    assert "eve@x.org" in (tmp_path / "model.json").read_text(encoding="utf-8")


def test_orders_alone_have_no_prior(tmp_path: Path) -> None:
    learned().save(tmp_path / "model.json")
    assert lob.OrderModel.load(tmp_path / "model.json").prior is None
    with pytest.raises(lob.LobInputError, match="a model of orders only; learn it with method"):
        Prior.load(tmp_path / "model.json")


def test_a_new_user_is_in_the_largest_state_of_a_prior(with_prior: lob.OrderModel) -> None:
    assert with_prior.prior is not None
    nothing = np.full((1, 5), np.nan)
    assert with_prior.predict(nothing).tolist() == [with_prior.prior.shares.argmax()]


@pytest.mark.parametrize(("second", "sigma"), [(2.0, 0.5**0.5), (1.0, 0.0)])
def test_sigma_comes_back_where_it_is_known(tmp_path: Path, second: float, sigma: float) -> None:
    logs = {"user": [1, 1, 1, 2, 2], "arm": list("xxyxy"), "reward": [1.0, second, 3.0, 1.0, 2.0]}
    model = lob.learn_orders(pl.DataFrame(logs), n_states=1, method="kendall")
    assert model.sigma == pytest.approx(sigma)
    model.save(tmp_path / "model.json")
    assert lob.OrderModel.load(tmp_path / "model.json").sigma == model.sigma


def test_users_without_json_become_text(tmp_path: Path) -> None:
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 3), eager=True).to_list()
    learned(tuple(days)).save(tmp_path / "model.json", users=True)
    users = lob.OrderModel.load(tmp_path / "model.json").users.tolist()
    assert users == ["2024-01-01", "2024-01-02", "2024-01-03"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "lobandits.orders"}, "format is 'lobandits.orders'; .* a model written by"),
        ({"version": 2}, "version 2 is newer than 1"),
        ({"version": "1"}, "version is '1'; expected the number 1"),
        ({"orders": None}, "orders: expected an object"),
        ({"labels": [0, 1]}, "labels has 2 states for 3 users"),
        ({"labels": [0, 1, 2]}, "labels must be whole numbers from 0 to 1"),
        ({"labels": "x"}, "labels must be an array of numbers"),
        ({"users": "abc"}, "users must be a list"),
        ({"users": [1, 2, None]}, "users must be a list"),
        ({"state_means": [[1.0, 2.0]]}, r"state_means must have the shape \(2, 2\)"),
        ({"sigma": -1.0}, "sigma must not be negative"),
        ({"imputed_share": 2.0}, "imputed_share must lie between 0 and 1"),
        ({"merged": -1}, "merged must be a whole number"),
        ({"sizes": [1, 2, 3]}, r"sizes must have the shape \(2,\)"),
        ({"sizes": [1.5, 1.5]}, "sizes must be numbers of users"),
        ({"sigma_from": "cell"}, "sigma_from 'cell'; did you mean 'cells'"),
        ({"prior": 3}, "prior: expected an object"),
        ({"prior": OTHER.to_dict()}, "other arms or another number of states"),
        ({"curve": {"n_states": [1]}}, "curve: expected an object with the fields"),
        ({"curve": CURVE | {"chosen": 3}}, r"chosen is 3; expected one of \(1, 2\)"),
        ({"curve": CURVE | {"gain": [1.0]}}, r"curve: gain must have the shape \(2,\)"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, change: Any, message: str) -> None:
    path = tmp_path / "model.json"
    learned().save(path, users=True)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change))
    with pytest.raises(lob.LobInputError, match=message):
        lob.OrderModel.load(path)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    learned().save(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["orders"]
    path.write_text(json.dumps(data))
    with pytest.raises(lob.LobInputError, match="the field 'orders' is missing"):
        lob.OrderModel.load(path)
    with pytest.raises(lob.LobInputError, match="orders: expected an object"):
        lob.LatentOrders.load(path)


def test_orders_alone_are_no_model(tmp_path: Path) -> None:
    learned().orders.save(tmp_path / "orders.json")
    with pytest.raises(lob.LobInputError, match=r"LatentOrders\.load reads orders alone"):
        lob.OrderModel.load(tmp_path / "orders.json")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(lob.LobInputError, match="cannot write"):
        learned().save(tmp_path / "none" / "model.json")


def test_new_users_get_the_nearest_order() -> None:
    rest, held = in_half(lob.make_ratings(400, 7, 4, ratings_per_user=200, seed=6))
    model = lob.learn_orders(rest, n_states=4, method="kendall")
    labels = model.predict(held)
    rankings = np.array([order.ranking for order in model.orders])
    assert labels.tolist() == naive.assign(held.means, rankings)
    np.testing.assert_array_equal(model.predict(held.means), labels)
    np.testing.assert_array_equal(model.predict(rest), model.labels)
    np.testing.assert_array_equal(model.distances(held).argmin(axis=1), labels)


def test_arms_are_matched_by_name() -> None:
    ratings = lob.make_ratings(200, 5, 3, ratings_per_user=200, missing=0.0, seed=7)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=3, method="kendall")
    first, *_, last = model.orders.arms
    logs = pl.DataFrame({"userId": ["new", "new"], "genre": [last, first], "rating": [5.0, 1.0]})
    state = int(model.predict(logs, **COLUMNS)[0])
    means = np.full((1, 5), np.nan)
    means[0, [0, -1]] = 1.0, 5.0
    assert model.predict(means).tolist() == [state]
    with pytest.raises(lob.LobInputError, match="column 'genre': unknown arm 'Drame'"):
        model.predict(logs.with_columns(genre=pl.lit("Drame")), **COLUMNS)


def test_new_users_from_files(tmp_path: Path) -> None:
    ratings = lob.make_ratings(60, 5, 3, seed=7)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=3, method="kendall")
    files = [str(ratings.write(tmp_path / "a.parquet"))]
    for logs in (files, files[0], tmp_path):
        np.testing.assert_array_equal(model.predict(logs, **COLUMNS), model.labels)


def test_who_tried_one_arm_gets_the_largest_state() -> None:
    model = lob.learn_orders(
        lob.make_ratings(200, 5, 3, seed=8).table, **COLUMNS, n_states=3, method="kendall"
    )
    lone = np.full((2, 5), np.nan)
    lone[1, 2] = 3.0
    assert (model.predict(lone) == model.sizes.argmax()).all()


@pytest.mark.parametrize(
    ("means", "message"),
    [
        (np.zeros((2, 4)), r"means must have shape \(n_users, 5\), got \(2, 4\)"),
        (np.zeros(5), r"got \(5,\)"),
        ([[1.0, 2.0, np.inf, 1.0, 2.0]], r"means\[0, 2\] is inf"),
        ([["a", "b", "c", "d", "e"]], "means must be an array of numbers"),
    ],
)
def test_wrong_means_are_named(means: Any, message: str) -> None:
    model = lob.learn_orders(
        lob.make_ratings(50, 5, 2, seed=9).table, **COLUMNS, n_states=2, method="kendall"
    )
    with pytest.raises(lob.LobInputError, match=message):
        model.predict(means)


@pytest.mark.parametrize("like", [None, 0])
def test_a_new_arm_goes_through_a_file(tmp_path: Path, like: int | None) -> None:
    model = learned()
    grown = model.with_arm("new", like)
    assert grown.orders == model.orders.with_arm("new", like)
    assert grown.state_means.shape == (model.orders.n_states, model.orders.n_arms + 1)
    grown.save(tmp_path / "grown.json")
    assert lob.OrderModel.load(tmp_path / "grown.json").orders == grown.orders
