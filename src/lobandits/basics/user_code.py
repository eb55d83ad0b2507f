"""Code that users name: a .py file, or a module by its dotted name; here and in other processes.

What a file defines is pickled by the name of a module that no other process could import. So
whoever sends such things sends a `Code` ahead of them: unpickling it imports what they need.
"""

import importlib
import importlib.util
import linecache
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from zlib import crc32

from lobandits.errors import LobInputError

PROMPTS = ("__main__", "__mp_main__")  # processes make these known to each other themselves


class SourceFile(NamedTuple):
    """A file that was imported: the name of its module, where it lay, and its text."""

    module: str
    path: str
    source: bytes


_files: dict[str, SourceFile] = {}


def import_code(spec: str) -> ModuleType:
    """Return the module in a .py file, or of a dotted name; it is executed once.

    Modules are also looked for in the folder in which the process runs.
    """
    try:
        if spec.endswith(".py") or "/" in spec or os.sep in spec:
            return _import_file(_read_file(Path(spec)))
        return _import_module(spec)
    except LobInputError:
        raise
    except Exception as error:
        raise LobInputError(f"cannot import {spec}: {type(error).__name__}: {error}") from error


def _read_file(path: Path) -> SourceFile:
    place = path.expanduser().resolve()
    try:
        source = place.read_bytes()
    except OSError as error:
        raise LobInputError(
            f"cannot read {path}: {error.strerror or error}; give a .py file, or a module by its "
            "dotted name"
        ) from error
    return SourceFile(
        f"lob_import_{crc32(str(place).encode()):08x}_{place.stem}", str(place), source
    )


def _import_file(file: SourceFile) -> ModuleType:
    """Execute a file's text, also where the file itself is not."""
    if _files.get(file.module) == file:
        return sys.modules[file.module]
    spec = importlib.util.spec_from_file_location(file.module, file.path)
    if spec is None:
        raise LobInputError(f"{file.path} must end in .py to be imported")
    module = importlib.util.module_from_spec(spec)
    lines = file.source.decode(errors="replace").splitlines(keepends=True)
    linecache.cache[file.path] = (len(file.source), None, lines, file.path)  # for tracebacks
    before = sys.modules.get(file.module)
    sys.modules[file.module] = module
    try:
        exec(compile(file.source, file.path, "exec"), vars(module))
    except BaseException:
        del sys.modules[file.module]
        if before is not None:
            sys.modules[file.module] = before
        raise
    _files[file.module] = file
    return module


def _import_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise LobInputError(
            f"there is no module {name!r}; give a .py file, or a module that is installed or lies "
            f"in {here}"
        ) from None


@dataclass(frozen=True)
class Code:
    """What must be imported before other things can be unpickled: unpickling this imports it.

    ``failure`` says what went wrong there; raising it would kill a worker without a word.
    """

    files: tuple[SourceFile, ...] = ()
    modules: tuple[str, ...] = ()
    failure: str = ""

    @classmethod
    def of(cls, modules: Iterable[str]) -> "Code":
        """Return what another process must import: these modules, and all files."""
        known = {"lobandits", *PROMPTS, *_files}
        names = sorted({name for name in modules if name.partition(".")[0] not in known})
        return cls(tuple(_files.values()), tuple(names))

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.files, self.modules)


def _arrived(files: tuple[SourceFile, ...], modules: tuple[str, ...]) -> Code:
    try:
        for file in files:
            _import_file(file)
        for name in modules:
            importlib.import_module(name)
    except Exception as error:
        return Code(files, modules, f"{type(error).__name__}: {error}")
    return Code(files, modules)
