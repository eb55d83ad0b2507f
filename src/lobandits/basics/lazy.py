"""Names of a package that load on first use: its stub ``__init__.pyi`` lists them, each once.

Type checkers and editors read the stub as it is. ::

    from lobandits.basics.lazy import lazy_names

    __getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
"""

import ast
import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of the package at ``file``."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    home_of = {alias.name: str(node.module) for node in imports for alias in node.names}
    names = sorted(home_of)

    def load(name: str) -> Any:
        if name not in home_of:
            close = get_close_matches(name, names, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: names.copy(), names
