from typing import Any

import numpy as np
import pytest

from lobandits.errors import LobError
from lobandits.paper.claims import estimate
from lobandits.paper.parts import Key, Record, Records, mean_and_error
from lobandits.paper.parts.record import axis_values
from lobandits.simulation import Synthetic, simulate


def record() -> Record:
    regret = np.random.default_rng(0).random((6, 10))
    return Record({}, np.arange(20.0, 201.0, 20.0), {"ucb": regret.cumsum(axis=1)})


def test_regret_at_and_between_shares_of_the_horizon() -> None:
    found = record()
    samples = found.samples["ucb"]
    assert found.total("ucb").tolist() == samples[:, -1].tolist()
    assert found.total("ucb", 0.5).tolist() == samples[:, 4].tolist()
    assert found.total("ucb", 0).tolist() == [0.0] * 6
    assert found.between("ucb", 0.5, 1.0).tolist() == (samples[:, -1] - samples[:, 4]).tolist()


def test_curves_are_those_of_the_simulation() -> None:
    result = simulate(Synthetic(4, 3), ["ts"], 100, 20, progress=False)
    cumulative = result.regret["ts"].cumsum(axis=1)[:, 19::20]
    found = Record({}, np.arange(20.0, 101.0, 20.0), {"ts": cumulative})
    for own, theirs in zip(found.curve("ts"), result.cumulative("ts"), strict=True):
        np.testing.assert_allclose(own, theirs[19::20])
    for own, theirs in zip(found.slope("ts"), result.instantaneous("ts", 20), strict=True):
        np.testing.assert_allclose(own, theirs[19::20])


def test_one_user_has_a_mean_without_an_error() -> None:
    mean, error = Record({}, np.ones(1), {"users": np.array([[7.0]])}).curve("users")
    assert mean.tolist() == [7.0]
    assert np.isnan(error).all()


def test_labels_that_end_in_a_value_are_known_by_it() -> None:
    samples = {label: np.zeros((1, 1)) for label in ("LB", "LOB, q = 0.5", "LOB, q = 1")}
    found = Record({}, np.ones(1), samples)
    assert found.by_value == {0.5: "LOB, q = 0.5", 1.0: "LOB, q = 1"}


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


def test_an_error_over_seeds_and_users_is_as_written_by_hand() -> None:
    """V_seed + V_user - V_0, each with its few-groups factor."""
    rng = np.random.default_rng(0)
    seeds, users = np.repeat([0, 1, 2], 4), np.array([0, 1, 2, 3, 1, 2, 3, 4, 0, 2, 4, 5])
    values = rng.normal(size=12) + np.array([0.0, 5.0, -5.0])[seeds] + 2.0 * users
    apart = values - values.mean()

    def variance(group: np.ndarray[Any, Any]) -> float:
        names = sorted(set(group.tolist()))
        sums = [sum(a for a, g in zip(apart, group, strict=True) if g == n) for n in names]
        return float(len(names) / (len(names) - 1) * sum(s * s for s in sums) / 12**2)

    expected = variance(seeds) + variance(users) - variance(np.arange(12))
    _, error = mean_and_error(values, [seeds, users])
    assert error == pytest.approx(np.sqrt(expected))
    _, plain = mean_and_error(values)
    assert plain == pytest.approx(values.std(ddof=1) / np.sqrt(12))
    _, one_seed = mean_and_error(values, [np.zeros(12, np.int64)])
    assert one_seed == plain
    assert error > 1.5 * plain


def test_intervals_cover_the_draw_of_seeds_and_of_users() -> None:
    """The mean of 5 seeds with 30 of 60 users each, where both have effects of their own."""
    rng, covered, trials = np.random.default_rng(1), 0, 400
    for _ in range(trials):
        people = rng.normal(size=60)
        rows = [rng.permutation(60)[:30] for _ in range(5)]
        values = np.concatenate([people[r] + rng.normal() + rng.normal(size=30) for r in rows])
        groups = {"seed": np.repeat(np.arange(5), 30), "user": np.concatenate(rows)}
        low, high = estimate("d", values, Record({}, np.ones(1), {}, groups=groups)).interval()
        covered += int(low <= 0 <= high)
    assert covered / trials > 0.95 - 4 * np.sqrt(0.05 * 0.95 / trials)
