"""A learned model: its file, and the states of new users."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.learning.helpers import COLUMNS, in_half

import lobandits as lob
from lobandits.learning.curve import EvidenceCurve

CURVE: dict[str, Any] = {
    "n_states": [1, 2], "evidence": [-2, -1], "gain": [0, 1], "error": [0, 0.1], "chosen": 2,
}  # fmt: skip
LIKELIHOODS = [
    lob.Gaussian(0.5),
    lob.Gaussian(np.array([0.5, 1.0])),
    lob.Bernoulli(),
    lob.Poisson(),
]


def model_of(users: Any = (7, 8, 9), likelihood: Any = LIKELIHOODS[0]) -> lob.Model:
    """Return a model of two states and two arms; two users are in the first state."""
    prior = lob.Prior(
        arms=("x", "é$y$"),
        shares=np.array([0.6, 0.4]),
        means=np.array([[2.0, -1.0], [-1.0, 2.0]]),
        loadings=np.array([[0.5], [0.5]]),
        own=np.array([0.1, 0.2]),
        scales=np.array([0.2, 0.0]),
        likelihood=likelihood,
    )
    labels = np.array([0, 1, 0])
    curve = EvidenceCurve.from_dict(CURVE)
    options = {"user": "user", "half_life": "30d", "n_states": None, "likelihood": None}
    return lob.Model(prior, np.array(users), labels, np.array([2, 1]), curve, "given", options)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=repr)
@pytest.mark.parametrize("users", [False, True])
def test_a_model_comes_back_as_it_was(tmp_path: Path, likelihood: Any, users: bool) -> None:
    model = model_of(likelihood=likelihood)
    model.save(tmp_path / "model.json", users=users)
    again = lob.Model.load(tmp_path / "model.json")
    assert again.prior == model.prior == lob.Prior.load(tmp_path / "model.json")
    assert again.orders == model.orders == lob.LatentOrders.load(tmp_path / "model.json")
    assert again.likelihood == likelihood
    assert (str(again.curve), again.sigma_from) == (str(model.curve), "given")
    assert again.options == model.options
    assert repr(again) == repr(model)
    assert again.users.tolist() == ([7, 8, 9] if users else [])
    assert again.labels.tolist() == ([0, 1, 0] if users else [])
    np.testing.assert_array_equal(again.sizes, model.sizes)


@pytest.mark.parametrize(
    "users", [(7, 8, 9), (2**63, 2**63 + 1, 2**64 - 1), ("b", "é", "z"), (0.5, 1.0, 2.0)]
)
def test_users_come_back_as_they_were(tmp_path: Path, users: Any) -> None:
    model_of(users).save(tmp_path / "model.json", users=True)
    assert lob.Model.load(tmp_path / "model.json").users.tolist() == list(users)


def test_users_without_json_become_text(tmp_path: Path) -> None:
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 3), eager=True).to_list()
    model_of(tuple(days)).save(tmp_path / "model.json", users=True)
    users = lob.Model.load(tmp_path / "model.json").users.tolist()
    assert users == ["2024-01-01", "2024-01-02", "2024-01-03"]


def test_no_user_is_in_the_file_unless_asked_for(tmp_path: Path) -> None:
    model = model_of(("ann@x.org", "bob@x.org", "eve@x.org"))
    model.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert "x.org" not in text
    assert "labels" not in text
    assert lob.Model.load(tmp_path / "model.json").n_users == 3
    model.save(tmp_path / "model.json", users=True)
    assert "eve@x.org" in (tmp_path / "model.json").read_text(encoding="utf-8")


def changed(path: Path, change: dict[str, Any]) -> Path:
    """Write a model's file with some fields of another value, or without those of None."""
    model_of().save(path, users=True)
    data = json.loads(path.read_text(encoding="utf-8")) | change
    path.write_text(json.dumps({name: x for name, x in data.items() if x is not None}))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "lobandits.orders"}, "format is 'lobandits.orders'; .* a model written by"),
        ({"version": 3}, "version 3 is newer than 2"),
        ({"version": "1"}, "version is '1'; expected the number 2"),
        ({"features": []}, "unknown field 'features'; .* upgrade lobandits"),
        ({"options": {"feature": 1}}, "options: unknown option 'feature'; .* upgrade lobandits"),
        ({"options": [1]}, "options must be an object"),
        ({"prior": None}, "the field 'prior' is missing"),
        ({"prior": 3}, "prior: expected an object"),
        ({"labels": [0, 1]}, "labels has 2 states for 3 users"),
        ({"labels": [0, 1, 2]}, "labels must be whole numbers from 0 to 1"),
        ({"labels": "x"}, "labels must be an array of numbers"),
        ({"users": "abc"}, "users must be a list"),
        ({"users": [1, 2, [3]]}, "users must be a list"),
        ({"sizes": [1, 2, 3]}, r"sizes must have the shape \(2,\)"),
        ({"sizes": [1.5, 1.5]}, "sizes must be numbers of users"),
        ({"sigma_from": "cell"}, "sigma_from 'cell'; did you mean 'cells'"),
        ({"curve": {"n_states": [1]}}, "curve: expected an object with the fields"),
        ({"curve": CURVE | {"chosen": 3}}, r"chosen is 3; expected one of \(1, 2\)"),
        ({"curve": CURVE | {"gain": [1.0]}}, r"curve: gain must have the shape \(2,\)"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(lob.LobInputError, match=message):
        lob.Model.load(changed(tmp_path / "model.json", change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"likelihood": {"likelihood": "student"}}, "unknown .*'student'"),
        ({"loading": [1.0]}, "'loading'"),
    ],
)
def test_a_prior_that_is_not_known_is_refused(tmp_path: Path, change: Any, message: str) -> None:
    prior = model_of().prior.to_dict() | change
    with pytest.raises(lob.LobInputError, match=message):
        lob.Model.load(changed(tmp_path / "model.json", {"prior": prior}))


def test_orders_alone_are_no_model(tmp_path: Path) -> None:
    model_of().orders.save(tmp_path / "orders.json")
    with pytest.raises(lob.LobInputError, match=r"LatentOrders\.load reads orders alone"):
        lob.Model.load(tmp_path / "orders.json")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(lob.LobInputError, match="cannot write"):
        model_of().save(tmp_path / "none" / "model.json")


def test_many_arms_need_no_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders of 2,000 arms would take 4 MB a state, and the time to close them."""

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("orders were made")

    monkeypatch.setattr(lob.LatentOrders, "from_means", never)
    rng = np.random.default_rng(0)
    shape = (20, 2000)
    counts = np.ones(shape, np.int64)
    sums = rng.normal(size=shape)
    table = lob.RewardTable(
        np.arange(20), tuple(f"arm {a}" for a in range(2000)), counts, sums, sums**2
    )
    model = lob.learn(table, n_states=1, likelihood=lob.Gaussian(1.0))
    model.save(tmp_path / "model.json")
    again = lob.Model.load(tmp_path / "model.json").with_arm("new")
    assert again.predict(np.zeros((1, 2001))).tolist() == [0]
    assert str(again.prior).endswith("...")
    policy = lob.LobBayes(again)
    assert policy.choose(policy.start(), rng=0).shape == (1,)


def test_new_users_get_the_likeliest_state() -> None:
    rest, held = in_half(lob.make_ratings(400, 7, 4, ratings_per_user=200, seed=6))
    model = lob.learn(rest, n_states=4)
    np.testing.assert_array_equal(model.predict(rest), model.labels)
    chances, _, _ = model.prior.posterior(held.counts, held.sums)
    np.testing.assert_array_equal(model.predict(held), chances.argmax(axis=1))


def test_weights_count_as_they_are() -> None:
    """Rewards of weight 0.4 must tell as much as 0.4 rewards; cut to 0 they would tell nothing."""
    model = model_of(likelihood=lob.Gaussian(1.0))
    counts = np.array([[0.4, 0.4], [0.9, 0.9], [1.6, 0.4]])
    sums = counts * np.array([[-1.0, 2.0], [-1.0, 2.0], [-1.0, 2.0]])
    table = lob.RewardTable(np.arange(3), model.arms, counts, sums, sums**2 / counts)
    assert model.predict(table).tolist() == [1, 1, 1]
    assert model.predict(np.full((1, 2), np.nan)).tolist() == [0]
    same = model.prior.posterior(counts, sums)[0]
    assert not np.allclose(same, model.prior.posterior(np.floor(counts), sums)[0])


def test_a_half_life_keeps_the_states_of_users() -> None:
    """Every user has as much old as new; weighed by a half-life, states are found all the same."""
    ratings = lob.make_ratings(300, 6, 3, ratings_per_user=60, seed=4)
    logs = pl.DataFrame(ratings.table)
    logs = logs.with_columns(time=pl.int_range(pl.len()).over("userId"))
    table = lob.reward_table(logs, **COLUMNS, time="time", half_life=15)
    assert (table.counts % 1 > 0).any()
    model = lob.learn(logs, **COLUMNS, time="time", half_life=15, n_states=3)
    np.testing.assert_array_equal(model.predict(table), model.labels)
    agree = [
        model.orders[s] == ratings.orders[t]
        for s, t in zip(model.labels, ratings.states, strict=True)
    ]
    assert np.mean(agree) > 0.9


def test_arms_are_matched_by_name() -> None:
    model = model_of()
    logs = pl.DataFrame({"user": ["new", "new"], "arm": ["é$y$", "x"], "reward": [3.0, -1.0]})
    assert model.predict(logs).tolist() == model.predict([[-1.0, 3.0]]).tolist() == [1]
    assert model.predict(logs.filter(pl.col("arm") == "x")).tolist() == [1]
    with pytest.raises(lob.LobInputError, match="column 'arm': unknown arm 'y'"):
        model.predict(logs.with_columns(arm=pl.lit("y")))


def test_new_users_from_files(tmp_path: Path) -> None:
    ratings = lob.make_ratings(60, 5, 3, seed=7)
    model = lob.learn(ratings.table, **COLUMNS, n_states=3)
    files = [str(ratings.write(tmp_path / "a.parquet"))]
    for logs in (files, files[0], tmp_path):
        np.testing.assert_array_equal(model.predict(logs, **COLUMNS), model.labels)


@pytest.mark.parametrize(
    ("means", "message"),
    [
        (np.zeros((2, 4)), r"means must have shape \(n_users, 2\), got \(2, 4\)"),
        (np.zeros(2), r"got \(2,\)"),
        ([[1.0, np.inf]], r"means\[0, 1\] is inf"),
        ([["a", "b"]], "means must be an array of numbers"),
    ],
)
def test_wrong_means_are_named(means: Any, message: str) -> None:
    with pytest.raises(lob.LobInputError, match=message):
        model_of().predict(means)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=repr)
@pytest.mark.parametrize("like", [None, 0])
def test_a_new_arm_goes_through_a_file(tmp_path: Path, like: int | None, likelihood: Any) -> None:
    grown = model_of(likelihood=likelihood).with_arm("new", like)
    assert grown.arms == ("x", "é$y$", "new")
    grown.save(tmp_path / "grown.json")
    assert lob.Model.load(tmp_path / "grown.json").prior == grown.prior


def test_policies_take_a_model() -> None:
    model = model_of()
    for policy in (lob.LobBayes(model), lob.MixTS(model), lob.Popular(model)):
        assert policy.prior is model.prior
        assert policy.arms == model.arms


def test_a_row_per_state() -> None:
    rows = model_of()._rows()
    assert [row["users"] for row in rows] == [2, 1]
    assert rows[0]["x"] > rows[0]["é$y$"]
