import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.simulation.helpers import same

from lobandits.errors import LobInputError
from lobandits.simulation import Result, Synthetic, simulate

ENV = Synthetic(n_arms=4, n_states=3)


def run(keep: Any) -> Result:
    return simulate(
        ENV, {"ucb": "ucb", "TS, wide": "ts"}, 30, 20, seed=5, keep=keep, progress=False
    )


@pytest.mark.parametrize("keep", ["all", "mean"])
def test_what_is_saved_comes_back(tmp_path: Path, keep: str) -> None:
    result = run(keep)
    constant = result.lower_bound()
    path = tmp_path / "result.npz"
    assert result.save(path) == path
    again = Result.load(path)
    assert same(result, again)
    assert again.settings == result.settings
    assert again.seconds == result.seconds
    assert again.cpu_seconds == result.cpu_seconds
    assert again.lower_bound() == constant
    assert str(again.summary(bound=True)) == str(result.summary(bound=True))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_bound_that_was_not_saved_cannot_be_computed(tmp_path: Path) -> None:
    run("mean").save(tmp_path / "result.npz")
    with pytest.raises(LobInputError, match=r"call lower_bound\(\) before save"):
        Result.load(tmp_path / "result.npz").lower_bound()


def test_the_header_says_what_the_arrays_belong_to(tmp_path: Path) -> None:
    with np.load(run("all").save(tmp_path / "result.npz")) as data:
        header = json.loads(str(data["header"]))
        assert data["user/TS, wide"].shape == (20, 30)
    assert header["settings"]["seed"] == 5
    assert header["settings"]["environment"] == repr(ENV)
    assert header["version"] == 1


@pytest.mark.parametrize("damage", ["empty", "text", "half", "tail"])
def test_a_broken_file_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "broken.npz"
    run("all").save(path)
    data = path.read_bytes()
    broken = {"empty": b"", "text": b"hello", "half": data[: len(data) // 2], "tail": data[:-7]}
    path.write_bytes(broken[damage])
    with pytest.raises(LobInputError, match=r"broken\.npz"):
        Result.load(path)


def rewrite(path: Path, change: Any) -> None:
    """Change a saved result's header and arrays."""
    with np.load(path) as data:
        arrays = dict(data)
    header = json.loads(str(arrays["header"]))
    change(header, arrays)
    arrays["header"] = np.array(json.dumps(header))
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, a: h.update(version=2), "version 2 is newer than 1.*upgrade"),
        (lambda h, a: h.update(version="x"), "version is 'x'"),
        (lambda h, a: h.update(format="other"), "format is 'other'; expected 'lobandits.result'"),
        (lambda h, a: h.pop("seconds"), "the field 'seconds' is missing"),
        (lambda h, a: h["settings"].pop("keep"), "the setting 'keep' is missing"),
        (lambda h, a: h["seconds"].pop("ucb"), "the seconds of 'ucb' are missing"),
        (lambda h, a: a.pop("user/ucb"), "'user/ucb' is missing"),
        (lambda h, a: a.update({"user/ucb": np.zeros(3)}), r"shape \(3,\), expected \(20, 30\)"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path: Path, change: Any, message: str) -> None:
    path = run("all").save(tmp_path / "wrong.npz")
    rewrite(path, change)
    with pytest.raises(LobInputError, match=message) as failure:
        Result.load(path)
    assert "wrong.npz" in str(failure.value)


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    path = run("all").save(tmp_path / "changed.npz")
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        member = file.getinfo("user/ucb.npy")
    data[member.header_offset + 30 + len(member.filename) + member.compress_size // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(LobInputError, match=r"changed\.npz is corrupt"):
        Result.load(path)


def test_arrays_of_something_else_are_no_result(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(LobInputError, match=r"other\.npz"):
        Result.load(tmp_path / "other.npz")
    np.savez(tmp_path / "other.npz", header=np.array("[1]"))
    with pytest.raises(LobInputError, match=r"other\.npz: expected .* a saved result"):
        Result.load(tmp_path / "other.npz")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(LobInputError, match=r"cannot read .*No such file"):
        Result.load(tmp_path / "none.npz")
    with pytest.raises(LobInputError, match="cannot write"):
        run("mean").save(tmp_path / "no" / "folder.npz")
    with pytest.raises(LobInputError, match=r"must end in \.npz, got '\.parquet'"):
        run("mean").save(tmp_path / "result.parquet")
