from pathlib import Path

import numpy as np
import pytest

from lobandits.errors import LobError
from lobandits.experiments.parts import (
    Record,
    kept_rounds,
    load_part,
    part_key,
    part_path,
    save_part,
)
from lobandits.simulation import Synthetic, simulate


def record(n: int = 6) -> Record:
    rng = np.random.default_rng(0)
    regret = {label: rng.random((n, 10)) for label in ("ucb", "lobts(project_every=10)")}
    return Record(
        settings={"environment": "synthetic", "policies": list(regret)},
        points=np.arange(20.0, 201.0, 20.0),
        samples={label: values.cumsum(axis=1) for label, values in regret.items()},
        seconds={"ucb": 0.5},
        cpu_seconds={"ucb": 0.25},
    )


@pytest.mark.parametrize("horizon", [1, 7, 50, 200, 500, 1000, 4000])
def test_kept_rounds_are_even_and_end_at_the_horizon(horizon: int) -> None:
    points = kept_rounds(horizon)
    assert points[-1] == horizon
    assert len(points) <= 200
    assert len(set(np.diff(points, prepend=0.0))) == 1


def test_a_horizon_that_cannot_be_kept_evenly_is_refused() -> None:
    with pytest.raises(LobError, match="multiple"):
        kept_rounds(501)


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


def test_a_saved_part_comes_back_bit_by_bit(tmp_path: Path) -> None:
    saved = record()
    save_part(tmp_path, "key", saved)
    found = load_part(tmp_path, "key")
    assert found is not None
    assert found.settings == saved.settings
    assert found.seconds == saved.seconds
    assert found.cpu_seconds == saved.cpu_seconds
    assert found.points.tolist() == saved.points.tolist()
    assert found.labels == saved.labels
    for label in saved.labels:
        assert found.samples[label].tolist() == saved.samples[label].tolist()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_broken_file_counts_as_none(tmp_path: Path, share: float) -> None:
    save_part(tmp_path, "key", record())
    path = part_path(tmp_path, "key")
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert load_part(tmp_path, "key") is None
    assert load_part(tmp_path, "other") is None


def test_a_key_changes_with_any_setting() -> None:
    settings = {"seed": 0, "users": 100, "policies": ["ucb"]}
    keys = {part_key(settings | change) for change in ({}, {"seed": 1}, {"policies": ["ts"]})}
    assert len(keys) == 3
    assert part_key(dict(reversed(settings.items()))) == part_key(settings)
