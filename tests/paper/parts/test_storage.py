from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lobandits.basics import sources
from lobandits.paper.parts import Record, storage
from lobandits.paper.parts.storage import load_part, part_key, part_path, save_part


def record(n: int = 6) -> Record:
    rng = np.random.default_rng(0)
    regret = {label: rng.random((n, 10)) for label in ("ucb", "lobts(project_every=10)")}
    return Record(
        settings={"environment": "synthetic", "policies": list(regret)},
        points=np.arange(20.0, 201.0, 20.0),
        samples={label: values.cumsum(axis=1) for label, values in regret.items()},
        seconds={"ucb": 0.5},
        cpu_seconds={"ucb": [0.25, 0.5]},
        people=np.arange(n)[::-1] + 10_000_000,
    )


def test_a_saved_part_comes_back_bit_by_bit(tmp_path: Path) -> None:
    saved = record()
    save_part(tmp_path, "key", saved)
    found = load_part(tmp_path, "key")
    assert found is not None
    assert found.settings == saved.settings
    assert found.seconds == saved.seconds
    assert found.cpu_seconds == saved.cpu_seconds
    assert found.people.tolist() == saved.people.tolist()
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


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a package that holds one part and one figure, in place of this one."""
    folder = tmp_path / "paper"
    for name in (
        "parts/storage.py",
        "movielens/files.py",
        "clustering/kmeans.py",
        "figures/fig.py",
    ):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("x = 1\n")
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    monkeypatch.setattr(storage, "__file__", str(folder / "parts" / "storage.py"))
    storage._code.cache_clear()
    yield folder
    storage._code.cache_clear()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("parts/storage.py", True),
        ("movielens/files.py", True),
        ("clustering/kmeans.py", True),
        ("figures/fig.py", False),
    ],
)
def test_a_key_changes_with_what_runs_parts_and_not_with_what_draws(
    package: Path, name: str, changes: bool
) -> None:
    before = part_key({})
    (package / name).write_text("x = 2\n")
    storage._code.cache_clear()
    assert (part_key({}) != before) is changes
