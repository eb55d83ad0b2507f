"""The documents against the files: every source that a page names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
FOLDERS = ("src", "tests", "benchmarks", "examples", "docs")
FILES = [path.as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
NAMED = re.compile(r"`((?:[a-z_0-9]+/)*[a-z_0-9]+\.py)`")
OWN = {"own_policy.py", "mine.py"}
"""Files that readers write."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sources_that_a_page_names_exist(page: Path) -> None:
    named = set(NAMED.findall(page.read_text(encoding="utf-8"))) - OWN
    missing = [name for name in named if not any(f"/{name}" in file for file in FILES)]
    assert not missing


def test_claims_of_the_report_stand_in_the_reproduction() -> None:
    """Every claim that is tested has its row in docs/reproduction.md, and every row its claim."""
    from lobandits.paper import EXPERIMENTS

    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([a-z0-9.-]+)`(?: \(|:)", text, flags=re.MULTILINE))
    assert rows == {claim.id for e in EXPERIMENTS.values() for claim in e.claims}
    names = re.findall(r"^\| (`[^|]*`) \|", text, flags=re.MULTILINE)
    listed = {word for cell in names for word in re.findall(r"`([a-z0-9-]+)`", cell)}
    assert set(EXPERIMENTS) <= listed


VERDICTS = ("holds", "does not hold", "undecided at this size", "not testable here")


@pytest.mark.parametrize(
    ("row", "section"), [("synthetic, now", "Synthetic"), ("ml-latest-small, now", "MovieLens")]
)
def test_verdicts_are_counted_as_they_are_listed(row: str, section: str) -> None:
    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    table = re.split(r"^##", text.split(f"\n### {section}")[1], flags=re.MULTILINE)[0]
    counted = re.search(rf"^\| {row}[^|]*\|([\d| ]*)\|$", text, flags=re.MULTILINE)
    assert counted is not None
    listed = [len(re.findall(rf"\*\*{verdict}\*\*", table)) for verdict in VERDICTS]
    assert [int(n) for n in counted[1].split("|")] == listed


def test_tests_are_skipped_only_for_what_is_missing_outside() -> None:
    """As CONTRIBUTING.md says: every skip has a reason."""
    for path in (ROOT / "tests").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"pytest\.mark\.skip(?:if)?\(", text):
            assert "reason=" in text[match.end() : match.end() + 300], path
