"""The documents against the code: blocks run, commands and options exist, links lead somewhere."""

import doctest
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast
from unittest.mock import patch

import pytest
import typer

import lobandits as lob
from lobandits.beliefs import LIKELIHOODS
from lobandits.cli.app import app
from lobandits.policies import registry

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
COMMAND: Any = cast("Any", typer.main.get_command(app))


def leaves(group: Any, above: str = "") -> dict[str, Any]:
    """Return the commands of a group by name, those of groups in it as ``group command``."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        inner = hasattr(command, "commands")
        found |= leaves(command, f"{above}{name} ") if inner else {f"{above}{name}": command}
    return found


COMMANDS = leaves(COMMAND)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A fenced block; ``after`` is its distance from the end of the block before."""

    language: str
    text: str
    line: int
    after: str


def blocks(page: Path) -> Iterator[Block]:
    text, end = page.read_text(encoding="utf-8"), 0
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(match[1], match[2], line, text[end : match.start()].strip())
        end = match.end()


def run(page: Path, block: Block, names: dict[str, Any]) -> str:
    """Execute a block; return what it printed."""
    printed = StringIO()
    code = compile("\n" * block.line + block.text, str(page.relative_to(ROOT)), "exec")
    with redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue()


def without_times(text: str) -> str:
    """Cut tables of regret before their times, the last two columns: these are never the same."""
    lines, timed = [], False
    for line in text.splitlines(keepends=True):
        timed = line.endswith("CPU s\n") or (timed and not line.isspace())
        lines.append(re.sub(r"\s+\S+\s+\S+( s)?$", "", line) if timed else line)
    return "".join(lines)


def outputs(page: Path) -> Iterator[tuple[Block, str]]:
    """Run a page; yield each ``text`` block right below a ``python`` block, and what this printed.

    Policies and likelihoods that the page defines do not outlive it.
    """
    names: dict[str, Any] = {"__name__": "page"}
    printed = None
    with patch.dict(registry._classes), patch.dict(LIKELIHOODS):
        for block in blocks(page):
            if block.language == "text" and printed is not None and not block.after:
                yield block, printed
            printed = run(page, block, names) if block.language == "python" else None


def same(shown: str, printed: str) -> bool:
    """Tell whether a page shows what was printed; ``...`` matches anything."""
    texts = without_times(shown), without_times(printed)
    return doctest.OutputChecker().check_output(*texts, FLAGS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run_and_print_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To show what they print now: ``python -m tests.test_docs docs/PAGE.md``."""
    monkeypatch.chdir(tmp_path)
    for block, printed in outputs(page):
        where = f"{page.name}, line {block.line}"
        assert same(block.text, printed), f"{where}: the block above printed\n{printed}"


def sections(page: Path) -> dict[str, str]:
    """Return the text under each heading of the second level."""
    parts = re.split(r"^## (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def parameters(command: Any) -> set[str]:
    """Return how a command's options and arguments are written, without ``--help``."""
    named = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
    return named - {"--help"}


def test_every_command_has_a_section() -> None:
    commands = {title for title in sections(DOCS / "cli.md") if title.startswith("`lob ")}
    assert commands == {f"`lob {name}`" for name in COMMANDS}


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_option_is_documented_and_no_other(name: str) -> None:
    command = COMMANDS[name] if name else COMMAND
    text = sections(DOCS / "cli.md")[f"`lob {name}`" if name else "All commands"]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    documented = {word for row in rows for word in re.findall(r"`([^`]+)`", row)}
    assert documented - {"--help"} == parameters(command)
    assert set(OPTION.findall(text)) <= parameters(command) | {"--help"}


def command_lines() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in blocks(page):
            if block.language == "sh":
                for line in block.text.replace("\\\n", " ").splitlines():
                    if line.startswith("lob "):
                        yield page.name, line


@pytest.mark.parametrize(("page", "line"), list(command_lines()))
def test_every_command_line_parses(page: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    for name, command in COMMANDS.items():
        if words[: len(name.split())] == name.split():
            command.make_context(name, words[len(name.split()) :]).close()
            break
    else:
        assert set(words) <= {o for p in COMMAND.params for o in p.opts} | {"--help"}, page


def test_every_public_name_is_in_the_api() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = {line.split(".")[-1] for line in text.splitlines() if line.startswith("::: ")}
    mappings = {"POLICIES", "LIKELIHOODS"}
    assert set(lob.__all__) - mappings <= listed
    assert all(f"`{name}`" in text for name in mappings)


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "policies.md"], ids=lambda p: p.name)
def test_every_policy_is_in_the_tables(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name, policy in lob.POLICIES.items():
        assert f"`{name}`" in text
        assert f"`{policy.__name__}`" in text


def test_every_benchmark_and_every_target_has_its_place() -> None:
    measured = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for file in (ROOT / "benchmarks").glob("*.py"):
        if "def main" in file.read_text(encoding="utf-8"):
            assert f"python benchmarks/{file.name}" in measured
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for target in targets:
        assert target == "help" or f"`make {target}`" in contributing


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *DOCS.glob("*.md")], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


MAPS = [DOCS / "paper-to-code.md", ROOT / "ARCHITECTURE.md"]
SOURCES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}


@pytest.mark.parametrize("page", MAPS, ids=lambda page: page.name)
def test_every_file_and_name_of_the_maps_exists(page: Path) -> None:
    """Names in capitals, as in ``policies/NAME.py``, stand for the reader's own."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    files = [path.as_posix() for path in SOURCES]
    for code in re.findall(r"`([^`\n]+)`", text):
        for path in re.findall(r"(?<![\w./])[\w/]+\.py\b", code):
            assert "NAME" in path or any(file.endswith(f"/{path}") for file in files), path
        if re.fullmatch(r"[\w/]+/", code):
            assert (ROOT / code).is_dir() or any(f"/{code}" in file for file in files), code
        if re.fullmatch(r"[a-z_]+", code):
            assert any(re.search(rf"\b{code}\b", source) for source in SOURCES.values()), code


@pytest.mark.parametrize("page", [*PAGES, *MAPS], ids=lambda page: page.name)
def test_every_public_name_in_the_documents_exists(page: Path) -> None:
    names = re.findall(r"(?<![\w/.-])lob\.(\w+)", page.read_text(encoding="utf-8"))
    assert set(names) - {"db"} <= set(lob.__all__) | {"__version__"}


def show_outputs(page: Path) -> None:
    """Write a page whose blocks show what is printed now."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    with TemporaryDirectory() as folder, chdir(folder):
        changed = [(block, new) for block, new in outputs(page) if not same(block.text, new)]
    for block, printed in reversed(changed):
        lines[block.line : block.line + block.text.count("\n")] = [printed]
    page.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        show_outputs(Path(name).resolve())
