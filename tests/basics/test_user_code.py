import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from lobandits.basics.user_code import Code, import_code
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


UNPICKLE = """
import pickle, sys
from pathlib import Path

code, thing = pickle.loads(Path(sys.argv[1]).read_bytes())
print(code.failure or thing)
"""


def elsewhere(data: bytes, tmp_path: Path) -> str:
    """Unpickle in a process that knows nothing, and return what it prints."""
    file = tmp_path / "data.pickle"
    file.write_bytes(data)
    command = [sys.executable, "-c", UNPICKLE, str(file)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("there", [True, False])
def test_another_process_gets_what_a_file_defines(tmp_path: Path, there: bool) -> None:
    """Also where the file is not."""
    file = tmp_path / "mine.py"
    file.write_text("from dataclasses import dataclass\n@dataclass\nclass Thing:\n    value: int\n")
    thing = import_code(str(file)).Thing(5)
    data = pickle.dumps((Code.of([]), thing))
    if not there:
        file.unlink()
    assert elsewhere(data, tmp_path) == "Thing(value=5)"


def test_code_is_what_others_lack() -> None:
    code = Code.of(["lobandits.policies.ucb", "__main__", "json.decoder", "json.decoder"])
    assert (code.files, code.modules) == ((), ("json.decoder",))


def test_a_failure_elsewhere_is_told(tmp_path: Path) -> None:
    data = pickle.dumps((Code((), ("no_such_module",)), 5))
    assert elsewhere(data, tmp_path) == "ModuleNotFoundError: No module named 'no_such_module'"
