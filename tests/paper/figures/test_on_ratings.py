"""The real-data experiments, tiny: on the real ratings where they are at hand, and generated."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lobandits.paper import GROUPS, Reproduction, reproduce
from lobandits.paper.claims import UNTESTABLE
from lobandits.paper.parts import GENERATED

SMALL = Path(__file__).parents[3].parent / "shared" / "data" / "ml-latest-small"


def run(out: Path, names: list[str], movielens: Path | None) -> Reproduction:
    return reproduce(names, size="tiny", out=out, progress=False, movielens=movielens)


def titles(found: Reproduction) -> list[str]:
    page = (found.folder / "index.html").read_text()
    return [part.split("</h2>")[0] for part in page.split("<h2>")[1:] if "MovieLens" in part[:60]]


def report(found: Reproduction) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((found.folder / "report.json").read_text())
    return loaded


@pytest.mark.skipif(not SMALL.exists(), reason="ml-latest-small is not beside the repository")
def test_on_the_real_ratings(tmp_path: Path) -> None:
    found = run(tmp_path, ["movielens"], SMALL)
    assert not found.broken
    ratings = report(found)["numbers"]["ratings"]
    assert (ratings["data"], ratings["users"], ratings["genres"]) == ("ml-latest-small", 201, 19)
    assert ratings["movies"] == 1297
    assert ratings["least ratings of a movie"] == 20
    assert ratings["least ratings of a user"] == 100
    assert len(titles(found)) == len(GROUPS["movielens"])
    assert all("(ml-latest-small: 201 users, 19 genres)" in each for each in titles(found))
    for figure in (tmp_path / "figures").iterdir():
        text = " ".join(re.findall(r">([^<>]+)</text>", figure.read_text()))
        assert "MovieLens, ml-latest-small: 201 users, 19 genres. In play: " in text
        assert "for each of 2 seeds" in text
    counted = [f for f in found.findings if "ml-20m" in f.reason]
    assert {f.claim.id for f in counted} == {
        "movielens-violations-counted",
        "movielens-filtered-size",
    }
    assert {f.verdict for f in counted} == {UNTESTABLE}


def test_on_generated_ratings_every_title_and_verdict_says_so(tmp_path: Path) -> None:
    found = run(tmp_path, ["figure-3a", "figure-3b"], None)
    assert not found.broken
    planted = GENERATED["planted"]
    assert "planted" in planted
    assert report(found)["numbers"]["ratings"]["data"] == planted
    assert len(titles(found)) == 2
    assert all(f"({planted}: " in title for title in titles(found))
    for figure in (tmp_path / "figures").iterdir():
        assert f"MovieLens, {planted}: " in figure.read_text()
    rows = (tmp_path / "verdicts.md").read_text().splitlines()[4:]
    assert len(rows) == len({finding.claim.id for finding in found.findings})
    assert all(f"({planted})" in row for row in rows)
