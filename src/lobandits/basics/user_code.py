"""Code that users name: a .py file, or a module by its dotted name; here and in other processes.

What a file, a script or a prompt defines cannot be imported in another process. So it travels
inside of what needs it, by cloudpickle.
"""

import copyreg
import importlib
import importlib.util
import os
import pickle
import sys
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import cloudpickle

from lobandits.errors import LobInputError

copyreg.pickle(cached_property, lambda it: (_named, (it.func, it.attrname)))  # Python 3.11 cannot


def import_code(spec: str) -> ModuleType:
    """Return the module in a .py file, or of a dotted name; it is executed once.

    Modules are also looked for in the folder in which the process runs.
    """
    try:
        if spec.endswith(".py") or "/" in spec or os.sep in spec:
            return _import_file(Path(spec))
        return _import_module(spec)
    except LobInputError:
        raise
    except Exception as error:
        raise LobInputError(f"cannot import {spec}: {type(error).__name__}: {error}") from error


def _import_file(path: Path) -> ModuleType:
    """Execute a file, unless it is known and has not changed."""
    place = path.expanduser().resolve()
    try:
        source = place.read_bytes()
    except OSError as error:
        raise LobInputError(
            f"cannot read {path}: {error.strerror or error}; give a .py file, or a module by its "
            "dotted name"
        ) from error
    name = f"lob_import_{crc32(str(place).encode()):08x}_{place.stem}"
    before = sys.modules.get(name)
    if before is not None and vars(before)["__source__"] == source:
        return before
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None:
        raise LobInputError(f"{place} must end in .py to be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        exec(compile(source, place, "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        raise
    vars(module)["__source__"] = source
    cloudpickle.register_pickle_by_value(module)
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


def packed(value: Any, classes: Iterable[type] = ()) -> bytes:
    """Return a value for `unpacked` in another process, with the code that it needs.

    ``classes`` are those which the value needs by their names alone.
    """
    try:
        data: bytes = cloudpickle.dumps((tuple(classes), value))
    except Exception as error:
        raise LobInputError(f"policies cannot be sent to other processes: {error}") from error
    return data


def unpacked(data: bytes) -> Any:
    """Return what `packed` wrote; its classes are known by their names from now on."""
    try:
        classes, value = pickle.loads(data)
        for cls in classes:
            if not hasattr(sys.modules.get(cls.__module__), cls.__name__):
                cls.__init_subclass__()  # nothing was imported: the class itself came
    except Exception as error:
        raise LobInputError(
            f"a worker cannot import what defines the policies: {type(error).__name__}: {error}; "
            "install it there, too"
        ) from error
    return value


def _named(function: Any, name: str) -> Any:
    """Return a cached property, which another process does not name by itself."""
    made = cached_property(function)
    made.attrname = name
    return made
