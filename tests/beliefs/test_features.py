"""Features as numbers: kinds by the data, what says nothing, refusals that name column and fix."""

import json
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lobandits.beliefs.features import Features
from lobandits.errors import LobInputError

TABLE: dict[str, list[Any]] = {
    "age": [20.0, 30.0, 40.0, None, 30.0, 30.0],
    "country": ["SE", "NO", "SE", "NO", "SE", "SE"],
    "member": [True, False, True, True, True, False],
}


def test_kinds_follow_from_the_data_and_can_be_stated() -> None:
    features = Features.of(TABLE, least_rows=1)
    assert [f.kind for f in features.all] == ["number", "category", "boolean"]
    assert features.columns == ("age", "age missing", "country NO", "country SE", "member")
    stated = Features.of({"code": [1, 2, 3, 2, 1, 3]}, {"code": "category"}, least_rows=1)
    assert stated.columns == ("code 1", "code 2", "code 3")
    assert stated.encode({"code": [1, 1.0, "1"]}).std(axis=0) == pytest.approx(0)


def test_every_feature_is_centred_and_of_variance_one() -> None:
    features = Features.of(TABLE, least_rows=1)
    x = features.encode(TABLE)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-12)
    for name in ("country", "member"):
        assert x[:, features.places[name]].var(axis=0).sum() == pytest.approx(1)


def test_what_is_missing_or_new_is_the_population_and_counted() -> None:
    features = Features.of(TABLE, least_rows=1)
    x, silent = features.encode_counting(
        {"country": ["DK", None, "SE"], "age": [30, float("nan"), "x"]}
    )
    assert silent == {"country": 2, "age": 2, "member": 3}
    assert not x[:2, features.places["country"]].any()
    assert not x[:, features.places["member"]].any()
    assert x[0, 0] == 0
    assert x[1, 1] > 0, "the flag of a missing number"
    assert not features.encode([{}, {}]).any()


def test_numbers_beyond_what_was_seen_count_as_the_last_that_was() -> None:
    features = Features.of(TABLE)
    x = features.encode({"age": [1e9, 40, -5, 20]})
    assert x[0, 0] == x[1, 0]
    assert x[2, 0] == x[3, 0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_tables_of_all_kinds_are_the_same(make: Any) -> None:
    rows = [dict(zip(TABLE, values, strict=True)) for values in zip(*TABLE.values(), strict=True)]
    expected = Features.of(rows, least_rows=1)
    assert Features.of(make(TABLE), least_rows=1) == expected
    np.testing.assert_array_equal(expected.encode(make(TABLE)), expected.encode(rows))


def test_names_of_categories_and_units_of_numbers_change_nothing() -> None:
    other = {
        "age": [None if age is None else 12 * age - 3 for age in TABLE["age"]],
        "country": [f"land of {name}" for name in TABLE["country"]],
        "member": ["yes" if value else "no" for value in TABLE["member"]],
    }
    one = Features.of(TABLE, least_rows=1).encode(TABLE)
    two = Features.of(other, {"member": "boolean"}, least_rows=1).encode(other)
    np.testing.assert_allclose(one, two, atol=1e-12)


def test_features_survive_json() -> None:
    features = Features.of(TABLE)
    data = json.loads(json.dumps(features._plain()))
    assert Features(**Features._decoded(data, "features")) == features
    data["all"][0]["colour"] = 1
    with pytest.raises(LobInputError, match=r"unknown field of a feature 'colour'"):
        Features(**Features._decoded(data, "features"))


@pytest.mark.parametrize(
    ("column", "kind", "message"),
    [
        ([f"name {i}" for i in range(300)], None, r"300 values for 300 users.*free text"),
        (["a"] * 9, None, r"one value, 'a', for all users.*leave it out"),
        ([2.5] * 9, None, r"one value, 2\.5"),
        ([None] * 9, None, r"is empty"),
        ([date(2026, 1, 1)] * 9, None, r"holds times.*days"),
        ([[1]] * 9, None, r"holds list"),
        (["a", "b", "c"], None, r"none for 3 users"),
        ([1, "many"], "number", r"'many'.*a category"),
        ([True, False], "flag", r"unknown kind of the feature 'f' 'flag'"),
    ],
)
def test_columns_that_cannot_tell_anything_are_refused(
    column: Any, kind: str | None, message: str
) -> None:
    with pytest.raises(LobInputError, match=message):
        Features.of({"f": column}, {"f": kind} if kind else None)


def test_unknown_names_and_wrong_shapes_are_refused() -> None:
    features = Features.of(TABLE, least_rows=1)
    with pytest.raises(LobInputError, match=r"unknown feature 'contry'; did you mean 'country'\?"):
        features.encode({"contry": ["SE"]})
    with pytest.raises(LobInputError, match="2 rows for 3 users"):
        features.encode({"age": [1, 2]}, n=3)
    with pytest.raises(LobInputError, match="one length"):
        features.encode({"age": [1, 2], "country": ["SE"]})
    with pytest.raises(LobInputError, match="a value for each user"):
        features.encode({"age": 3})
    with pytest.raises(LobInputError, match="unknown feature 'sex'"):
        Features.of(TABLE, {"sex": "category"})


def test_draws_vary_as_the_features_did() -> None:
    table = {"age": [20.0, 30.0, None, 50.0] * 5, "club": ["a", "b", "b", "c"] * 5,
             "member": [True, False, False, True] * 5}  # fmt: skip
    features = Features.of(table)
    x = features.draw(40_000, np.random.default_rng(0))
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.05)
    club = features.places["club"]
    np.testing.assert_allclose(np.cov(x[:, club].T), features.all[1].covariance, atol=0.02)
    assert set(x[:, features.places["member"]].ravel()) == {-1.0, 1.0}
