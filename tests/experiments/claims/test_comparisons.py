import numpy as np

from lobandits.experiments.claims import below, below_along, trend
from lobandits.experiments.parts import Record
from lobandits.experiments.records import Records


def record(**regret: list[list[float]]) -> Record:
    return Record({}, np.array([1.0, 2.0]), {name: np.array(v) for name, v in regret.items()})


FEW = record(lobts=[[1.0, 1.0], [1.0, 2.0]], ts=[[2.0, 5.0], [3.0, 6.0]])
MANY = record(lobts=[[1.0, 4.0], [1.0, 4.0]], ts=[[2.0, 5.0], [3.0, 6.0]])


def test_differences_are_paired_by_user() -> None:
    (found,) = below(FEW, "lobts", ["ts"])
    assert (found.what, found.mean, found.error, found.n) == ("lobTS below TS", 4.0, 0.0, 2)
    (late,) = below(FEW, "lobts", ["ts"], start=0.5)
    assert late.mean == np.mean([3.0 - 0.0, 3.0 - 1.0])


def test_differences_along_an_axis_name_where_they_are() -> None:
    records = Records({(("n_states", 4),): FEW, (("n_states", 20),): MANY})
    found = below_along(records, "n_states", "lobts", ["ts"])
    assert [e.what for e in found] == ["lobTS below TS, m = 4", "lobTS below TS, m = 20"]
    (many,) = below_along(records, "n_states", "lobts", ["ts"], lambda m: m > 4)
    assert many == found[1]


def test_a_trend_is_each_users_slope_by_least_squares() -> None:
    q = np.array([0.0, 0.3, 1.0])
    totals = np.random.default_rng(0).random((3, 5))
    slopes = trend(dict(zip(q.tolist(), totals, strict=True)))
    np.testing.assert_allclose(slopes, np.polyfit(q, totals, 1)[0])
