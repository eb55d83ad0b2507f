"""The runner on the size "tiny": resuming, breaking, and the same numbers everywhere."""

import json
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from lobandits.errors import LobInputError
from lobandits.paper import EXPERIMENTS, Reproduction, reproduce
from lobandits.paper.claims import UNTESTABLE
from lobandits.paper.experiment import Survey
from lobandits.paper.parts import RatingData, Simulation

NAMES = ["figure-2a", "rarity"]


def run(out: Path, names: list[str] = NAMES, **options: Any) -> Reproduction:
    return reproduce(names, size="tiny", out=out, progress=False, **options)


def report(found: Reproduction) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((found.folder / "report.json").read_text())
    return loaded


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return run(tmp_path_factory.mktemp("first"), workers=1)


def test_everything_is_written(first: Reproduction) -> None:
    assert not first.broken
    assert first.fresh == 7
    names = {path.name for path in first.folder.iterdir()}
    assert names == {"parts", "data", "figures", "index.html", "report.json", "verdicts.md"}
    for name in NAMES:
        assert (first.folder / "data" / f"{name}.csv").is_file()
        assert (first.folder / "figures" / f"{name}.svg").is_file()
    numbers = report(first)["numbers"]
    for experiment in numbers["experiments"].values():
        assert all(
            (first.folder / file).is_file()
            for part in experiment["parts"]
            for file in part["files"]
        )
    ids = {claim.id for name in NAMES for claim in EXPERIMENTS[name].claims}
    assert {finding["id"] for finding in numbers["claims"]} == ids
    table = (first.folder / "verdicts.md").read_text()
    assert all(f"`{each}`" in table for each in ids)


def test_a_run_goes_on_where_it_was(first: Reproduction) -> None:
    before = report(first)["numbers"]
    again = run(first.folder)
    assert again.fresh == 0
    assert report(again)["numbers"] == before
    lost = sorted((first.folder / "parts").iterdir())[0]
    lost.unlink()
    assert run(first.folder).fresh == 1
    lost.write_bytes(lost.read_bytes()[:100])
    once_more = run(first.folder)
    assert once_more.fresh == 1
    assert report(once_more)["numbers"] == before


def test_other_seeds_are_other_numbers(first: Reproduction, tmp_path: Path) -> None:
    other = run(tmp_path, ["figure-2a"], seed=1)
    rows = [
        each["numbers"]["experiments"]["figure-2a"]["rows"] for each in map(report, (first, other))
    ]
    assert rows[0] != rows[1]


def same_numbers(first: Reproduction, out: Path, executor: Executor) -> None:
    found = run(out, workers=2, executor=executor)
    assert found.fresh == 7
    assert report(found)["numbers"] == report(first)["numbers"]


def test_two_threads_give_the_same_numbers(first: Reproduction, tmp_path: Path) -> None:
    assert report(run(tmp_path, workers=2))["numbers"] == report(first)["numbers"]


def test_processes_give_the_same_numbers(first: Reproduction, tmp_path: Path) -> None:
    with ProcessPoolExecutor(2) as pool:
        same_numbers(first, tmp_path, pool)


def test_users_are_clustered_in_any_process(tmp_path: Path) -> None:
    here = run(tmp_path / "here", ["figure-6"], workers=1)
    with ProcessPoolExecutor(2) as pool:
        there = run(tmp_path / "there", ["figure-6"], executor=pool)
    assert report(there)["numbers"] == report(here)["numbers"]


def test_what_measures_time_runs_last_and_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way: set[tuple[int, int]] = set()
    beside: dict[Any, int] = {}
    ended: list[Any] = []
    run_part = Simulation.run

    def watched(part: Simulation, ratings: RatingData, stop: Event, executor: Any) -> Any:
        under_way.add((id(part), ratings.seed))
        name = part.options["n_states"], part.options.get("n_arms")
        beside[name] = max(beside.get(name, 0), len(under_way))
        if name in TIMED:
            assert executor is None
        found = run_part(part, ratings, stop, executor)
        under_way.remove((id(part), ratings.seed))
        ended.append(name)
        return found

    TIMED = {(140, None), (10, 10)}  # of computation-time, also in figure-8; of figure-4
    monkeypatch.setattr(Simulation, "run", watched)
    found = run(tmp_path, ["computation-time", "figure-4", "figure-8", "figure-2a"], workers=2)
    assert not found.broken
    assert [o.experiment.name for o in found.outcomes] == [
        *("figure-2a", "computation-time", "figure-4", "figure-8")
    ]
    assert {beside[name] for name in TIMED} == {1}
    assert set(ended[-4:]) == TIMED


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_the_same_numbers(first: Reproduction, tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"dashboard_address": None, "host": "127.0.0.1"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **options) as cluster,
        Client(cluster) as client,
    ):
        same_numbers(first, tmp_path, client.get_executor())


def breaking(seed: int) -> dict[str, Any]:
    """Fail, as a part of an experiment may."""
    raise OSError(f"no room for seed {seed}")


def test_a_broken_part_does_not_stop_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Survey("broken", breaking, {"tiny": {}})
    monkeypatch.setitem(EXPERIMENTS, "rarity", replace(EXPERIMENTS["rarity"], work=(broken,)))
    found = run(tmp_path)
    assert [outcome.experiment.name for outcome in found.broken] == ["rarity"]
    assert found.broken[0].broken == "OSError: no room for seed 0"
    assert {f.verdict for f in found.broken[0].findings} == {UNTESTABLE}
    assert found.fresh == 6
    assert "no room for seed 0" in (tmp_path / "index.html").read_text()
    monkeypatch.undo()
    mended = run(tmp_path)
    assert not mended.broken
    assert mended.fresh == 1


def test_wrong_arguments_are_named_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(LobInputError, match="no experiment 'figure-9'"):
        run(tmp_path, ["figure-9"])
    with pytest.raises(LobInputError, match="workers"):
        run(tmp_path, workers=0)
    with pytest.raises(LobInputError, match="size"):
        reproduce([], size="huge", out=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(LobInputError, match="nowhere"):
        run(tmp_path, ["figure-3a"], movielens=tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(LobInputError, match="cannot write"):
        run(tmp_path / "file" / "out", ["figure-1"])


def test_a_bar_counts_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    reproduce(["rarity"], size="tiny", out=tmp_path)
    assert "100% of 1 parts" in capsys.readouterr().err
