import numpy as np
import pytest

from lobandits.errors import LobError
from lobandits.experiments.parts import Record
from lobandits.experiments.records import Key, Records, axis_values


def key(sigma: float, m: int) -> Key:
    return (("sigma", sigma), ("n_states", m))


PLACES = [key(sigma, m) for sigma in (1.0, 5.0) for m in (4, 20)]
RECORDS = Records({place: Record({}, np.ones(1), {}) for place in PLACES})


def test_a_record_is_found_by_some_of_its_values() -> None:
    assert RECORDS.at(sigma=5.0, n_states=4) is RECORDS[key(5.0, 4)]
    assert RECORDS.at(n_states=20) is RECORDS[key(1.0, 20)]
    assert RECORDS.at() is RECORDS[key(1.0, 4)]
    with pytest.raises(LobError, match="no part at sigma = 2"):
        RECORDS.at(sigma=2)


def test_records_along_an_axis() -> None:
    along = RECORDS.along("n_states", sigma=5.0)
    assert along == {m: RECORDS[key(5.0, m)] for m in (4, 20)}


def test_readers_know_axes_under_other_names() -> None:
    assert axis_values(key(1.0, 4)) == {"sigma": 1.0, "m": 4}
