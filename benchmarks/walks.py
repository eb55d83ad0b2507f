"""How many functions in how many files one HTTP decision and one `lob learn` walk through.

A profiler counts the functions of ours that are called, each once. Kernels and what NumPy, FastAPI
or the database do are not counted. Run with ``python benchmarks/walks.py``.
"""

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from fastapi.testclient import TestClient
from timing import show

import lobandits as lob
from lobandits.cli import main as command
from lobandits.service import DecisionService
from lobandits.service.http import create_app

PACKAGE = Path(lob.__file__).parent
Functions = set[tuple[str, str]]


@contextmanager
def watched() -> Iterator[Functions]:
    """Collect file and name of every function of the package that is called, in any thread."""
    called: Functions = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        named = not frame.f_code.co_name.startswith("<")  # no comprehension, no lambda
        if event == "call" and named and file.startswith(str(PACKAGE)):
            name = f"{frame.f_code.co_qualname}:{frame.f_code.co_firstlineno}"
            called.add((str(Path(file).relative_to(PACKAGE)), name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def decision(folder: Path) -> Functions:
    """Return what one decision over HTTP calls, after one to warm up."""
    orders = lob.LatentOrders.from_rankings([["a", "b", "c"], ["c", "b", "a"]])
    called: Functions = set()
    for last in (False, True):
        with watched() as seen:
            service = DecisionService(lob.LobTS(orders, 1.0), f"sqlite:///{folder}/{last}.db")
            with TestClient(create_app(service), base_url="http://localhost") as client:
                client.post("/v1/decisions", json={"user": "u0"}).raise_for_status()
                seen.clear()
                client.post("/v1/decisions", json={"user": "u1"}).raise_for_status()
                called = set(seen)
    return called


def learning(folder: Path) -> Functions:
    """Return what `lob learn` of a small file calls."""
    lob.make_ratings(n_users=60, n_arms=5, n_states=2, seed=0).write(folder / "ratings.csv")
    words = f"learn {folder}/ratings.csv --user userId --arm genre --reward rating"
    sys.argv = ["lob", *words.split(), "--out", str(folder / "model.json")]
    with watched() as called, suppress(SystemExit):
        command()
    return called


def main() -> None:
    walks: dict[str, Callable[[Path], Functions]] = {
        "one decision over HTTP": decision,
        "`lob learn`": learning,
    }
    rows = []
    for name, walk in walks.items():
        with tempfile.TemporaryDirectory() as folder:
            called = walk(Path(folder))
        rows.append([name, len(called), len({file for file, _ in called})])
        for file in sorted({file for file, _ in called}):
            print(f"{name}: {file}: {', '.join(sorted(f for g, f in called if g == file))}")
    show("Walks", ["walk", "functions", "files"], rows)


if __name__ == "__main__":
    main()
