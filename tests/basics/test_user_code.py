import subprocess
import sys
from pathlib import Path
from threading import Lock

import pytest

from lobandits.basics.user_code import import_code, packed, unpacked
from lobandits.errors import LobInputError

pytestmark = pytest.mark.usefixtures("forgotten")


def test_a_file_is_executed_once_and_again_after_an_edit(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("values = []\nclass Thing: ...\n")
    module = import_code(str(file))
    assert module.__file__ == str(file)
    assert import_code(str(file)) is module
    assert sys.modules[module.Thing.__module__] is module
    file.write_text("values = [1]\n")
    assert import_code(str(file)).values == [1]


def test_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(f"where = {folder!r}\n")
    found = [import_code(str(tmp_path / folder / "mine.py")).where for folder in ("a", "b")]
    assert found == ["a", "b"]


def test_a_file_may_have_the_name_of_a_module(tmp_path: Path) -> None:
    import json

    (tmp_path / "json.py").write_text("mine = True\n")
    assert import_code(str(tmp_path / "json.py")).mine
    assert sys.modules["json"] is json


def test_modules_lie_on_the_path_or_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_package").mkdir()
    (tmp_path / "some_package" / "inner.py").write_text("value = 7\n")
    monkeypatch.chdir(tmp_path)
    assert import_code("some_package.inner").value == 7
    assert import_code("json").dumps(1) == "1"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no/such.py", r"cannot read no/such\.py: No such file"),
        ("folder/", r"cannot read folder: .*; give a \.py file"),
        ("no_such_module", "there is no module 'no_such_module'; give a .py file"),
        ("json.no_such", "there is no module 'json.no_such'"),
        ("broken.py", r"cannot import broken\.py: SyntaxError: "),
        ("raising.py", r"cannot import raising\.py: ZeroDivisionError: no luck"),
        ("needing", "cannot import needing: ModuleNotFoundError: No module named 'elsewhere'"),
        ("text/mine.txt", r"must end in \.py to be imported"),
    ],
)
def test_what_cannot_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, message: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "mine.txt").write_text("")
    (tmp_path / "broken.py").write_text("class\n")
    (tmp_path / "raising.py").write_text("raise ZeroDivisionError('no luck')\n")
    (tmp_path / "needing.py").write_text("import elsewhere\n")
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    with pytest.raises(LobInputError, match=message):
        import_code(spec)
    assert not [name for name in set(sys.modules) - before if "lob_import" in name]


THING = """
from dataclasses import dataclass
from functools import cached_property

known = []

class Named:
    def __init_subclass__(cls):
        if "name" in vars(cls):
            known.append(cls.name)

@dataclass(frozen=True)
class Thing(Named):
    value: int
    name = "thing"

    @cached_property
    def known(self):
        return list(known)
"""
UNPACK = """
import sys
from pathlib import Path
from threading import Lock
from lobandits.basics.user_code import unpacked

data = Path(sys.argv[1]).read_bytes()
thing = unpacked(data)
print(thing, thing.known, unpacked(data) == thing)
"""


@pytest.mark.parametrize("there", [True, False])
def test_another_process_gets_what_a_file_defines(tmp_path: Path, there: bool) -> None:
    """Also where the file is not; and its classes are known there by their names."""
    file, data = tmp_path / "mine.py", tmp_path / "data"
    file.write_text(THING)
    module = import_code(str(file))
    assert module.known == ["thing"]
    data.write_bytes(packed(module.Thing(5), [module.Thing]))
    if not there:
        file.unlink()
    command = [sys.executable, "-c", UNPACK, str(data)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "Thing(value=5) ['thing', 'thing'] True"


def test_the_same_process_gets_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(THING)
    module = import_code(str(file))
    thing = unpacked(packed(module.Thing(5), [module.Thing]))
    assert type(thing) is module.Thing
    assert module.known == ["thing"]


def test_what_another_process_lacks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("class Thing: ...\n")
    monkeypatch.chdir(tmp_path)
    data = packed(import_code("only_here").Thing())
    monkeypatch.delitem(sys.modules, "only_here")
    (tmp_path / "only_here.py").unlink()
    with pytest.raises(LobInputError, match="No module named 'only_here'; install it there, too"):
        unpacked(data)


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(LobInputError, match=r"cannot be sent to other processes: .*lock"):
        packed(Lock())
