"""The key of a measurement sees the text of one file: the function must use no other."""

import ast
import inspect
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from threading import Event
from typing import Any

import numpy as np
import pytest

from lobandits.errors import LobError
from lobandits.paper import EXPERIMENTS
from lobandits.paper.experiment import Survey
from lobandits.paper.parts import Measurement, RatingData, Simulation
from lobandits.paper.parts.part import kept_rounds
from lobandits.paper.parts.storage import part_key
from lobandits.simulation import Synthetic, simulate

SURVEYS = {
    work.measure.__name__: work
    for experiment in EXPERIMENTS.values()
    for work in experiment.work
    if isinstance(work, Survey)
}
PARTS = "lobandits.paper.parts"


def names_from_elsewhere(tree: ast.Module) -> dict[str, str]:
    """Return the names that a file takes from this package, but not from its parts."""
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module is not None
        and node.module.startswith("lobandits.paper")
        and not f"{node.module}.".startswith(f"{PARTS}.")
        for alias in node.names
    }


def definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the functions and constants of a file, by name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            for name in (n for target in node.targets for n in ast.walk(target)):
                if isinstance(name, ast.Name):
                    yield name.id, node


def names_used(tree: ast.Module, name: str) -> set[str]:
    """Return the names that a function uses, itself or through others of its file."""
    own, seen, todo = dict(definitions(tree)), set[str](), [name]
    while todo:
        current = todo.pop()
        if current not in seen and current in own:
            todo += [node.id for node in ast.walk(own[current]) if isinstance(node, ast.Name)]
        seen.add(current)
    return seen


@pytest.mark.parametrize("name", SURVEYS)
def test_functions_use_their_own_file_parts_and_the_layers_below(name: str) -> None:
    tree = ast.parse(inspect.getsource(sys.modules[SURVEYS[name].measure.__module__]))
    elsewhere = names_from_elsewhere(tree)
    assert {"Survey", "Experiment"} <= set(elsewhere)
    assert names_used(tree, name) & set(elsewhere) == set()
    assert "Survey" in names_used(tree, "WORK")


def count(n: int, seed: int) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    return {"numbers": np.arange(float(n)) + seed}


def test_a_part_has_one_point_for_each_number() -> None:
    found = Measurement(count, {"n": 3}).run(RatingData(seed=5), Event())
    assert found.samples["numbers"].tolist() == [[5.0], [6.0], [7.0]]
    assert found.settings == {"measure": "count", "n": 3, "seed": 5}
    assert list(found.seconds) == list(found.cpu_seconds) == ["count"]


def test_the_key_sees_the_text_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Measurement(count, {"n": 3})
    before = part_key(part.settings(RatingData()))
    assert part_key(part.settings(RatingData())) == before
    monkeypatch.setattr(inspect, "getsource", lambda module: "edited")
    assert part_key(part.settings(RatingData())) != before


@pytest.mark.parametrize("horizon", [1, 7, 50, 200, 500, 1000, 4000])
def test_kept_rounds_are_even_and_end_at_the_horizon(horizon: int) -> None:
    points = kept_rounds(horizon)
    assert points[-1] == horizon
    assert len(points) <= 200
    assert len(set(np.diff(points, prepend=0.0))) == 1


def test_a_horizon_that_cannot_be_kept_evenly_is_refused() -> None:
    with pytest.raises(LobError, match="multiple"):
        kept_rounds(501)


def test_a_part_keeps_the_cumulative_regret_of_simulate() -> None:
    options: dict[str, Any] = {"n_arms": 4, "n_states": 3, "sigma": 2.0}
    part = Simulation("synthetic", options, ("ts", "lobts"), horizon=400, n_users=5)
    found = part.run(RatingData(seed=3), Event())
    result = simulate(Synthetic(**options), ["ts", "lobts"], 400, 5, 3, progress=False)
    for policy in part.policies:
        kept = result.regret[policy].cumsum(axis=1)[:, 4::5]
        np.testing.assert_array_equal(found.samples[policy], kept)
    assert found.settings == part.settings(RatingData(seed=3))


def test_a_part_that_is_stopped_ends() -> None:
    stop = Event()
    stop.set()
    part = Simulation("synthetic", {"n_arms": 4, "n_states": 3}, ("ts",), horizon=400, n_users=5)
    with pytest.raises(CancelledError):
        part.run(RatingData(), stop)
