"""Files: a reader sees the old or the new one, never a half; and JSON that says what it is.

``{"format": "lobandits.model", "version": 1, ...}``: a reader refuses what is of another format,
lacks a field, or was written by a newer lobandits than itself.
"""

import json
import os
import secrets
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO, Any

from lobandits.errors import LobInputError

HEADER = ("format", "version")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return the content of a JSON file, or say why it cannot be read."""
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise LobInputError(f"{path} is corrupt or truncated, no valid JSON: {error}") from error


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a TOML file, or say why it cannot be read."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:  # no UTF-8, or no TOML
        raise LobInputError(f"{path} is no valid TOML: {error}") from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as `write_file` does."""
    write_file(path, lambda file: file.write(text.encode()))


def write_file(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> Path:
    """Write as `write_atomic` does, or say why the file cannot be written."""
    try:
        return write_atomic(path, write)
    except OSError as error:
        raise LobInputError(f"cannot write {path}: {error.strerror or error}") from error


def write_atomic(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> Path:
    """Call ``write`` on a temporary file beside ``path``, then rename it to ``path``.

    A link is followed: the file that it names is replaced, not the link.
    """
    target = Path(path)
    place = target.resolve()
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target


def write_versioned(
    path: str | os.PathLike[str],
    name: str,
    version: int,
    fields: Mapping[str, Any],
    rows: Collection[str] = (),
) -> None:
    """Write the fields of format ``name``, which a crash leaves old or new.

    Fields are in lines of their own; of those in ``rows``, lists, each item is.
    """
    data = {"format": name, "version": version, **fields}
    lines = (f'  "{field}": {_text(data[field], field in rows)}' for field in data)
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def _text(value: Any, by_item: bool) -> str:
    if not by_item:
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(f"    {_text(item, False)}" for item in value) + "\n  ]"


def read_versioned(
    path: str | os.PathLike[str], name: str, version: int, fields: Collection[str], noun: str
) -> dict[str, Any]:
    """Return what a file holds, checked as `check_versioned` does."""
    return check_versioned(read_json(path), str(path), name, version, fields, noun)


def check_versioned(
    data: Any, source: str, name: str, version: int, fields: Collection[str], noun: str
) -> dict[str, Any]:
    """Return ``data`` if it is of format ``name``, up to ``version``, and has all ``fields``.

    Errors open with ``source``; ``noun`` says what was expected, such as "a saved agent". Fields
    beyond these are the caller's to judge.
    """
    needed = (*HEADER, *fields)
    if not isinstance(data, dict):
        raise LobInputError(
            f"{source}: expected an object with the fields {', '.join(needed)}: {noun}"
        )
    if data.get("format", name) != name:
        raise LobInputError(f"{source}: format is {data['format']!r}; expected {name!r}, {noun}")
    for field in needed:
        if field not in data:
            raise LobInputError(f"{source}: the field {field!r} is missing; expected {noun}")
    found = data["version"]
    if type(found) is not int or found < 1:
        raise LobInputError(f"{source}: version is {found!r}; expected the number {version}")
    if found > version:
        raise LobInputError(
            f"{source}: version {found} is newer than {version}, the newest that this lobandits "
            "reads; upgrade lobandits"
        )
    return data
