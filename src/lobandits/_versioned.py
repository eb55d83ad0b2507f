"""JSON files that say what they are: a format, its version, then one line for each field.

``{"format": "lobandits.model", "version": 1, ...}``: a reader refuses what is of another format,
lacks a field, or was written by a newer lobandits than itself.
"""

import json
import os
from collections.abc import Collection, Mapping
from typing import Any

from lobandits._files import read_json, write_text
from lobandits.errors import LobInputError

HEADER = ("format", "version")


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
