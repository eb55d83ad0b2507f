"""Keys: who has one may decide, or do everything, in all problems or in some of them."""

import logging
from collections.abc import Callable, Iterable
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any, NamedTuple

from lobandits._files import read_toml
from lobandits.errors import LobError, LobInputError
from lobandits.service.decision import PROBLEM

LEAST_CHARACTERS = 8
FIELDS = {"key", "role", "problems"}

logger = logging.getLogger(__name__)


class Role(IntEnum):
    """What a key allows; a higher role may do more."""

    ANYBODY = 0
    DECIDE = 1
    ADMIN = 2


ROLES = {"decide": Role.DECIDE, "admin": Role.ADMIN}


class Key(NamedTuple):
    """What a key allows: a role, in some problems or (None) in all; the key itself is not kept."""

    digest: bytes
    role: Role
    problems: frozenset[str] | None = None


NO_KEY = Key(b"", Role.ANYBODY)


def make_key(source: str, text: str, role: Role, problems: Iterable[str] | None = None) -> Key:
    """Return a key that a header can hold and nobody guesses at once."""
    if not (text.isascii() and text.isprintable() and text.strip() == text):
        raise LobInputError(f"{source} must be printable ASCII without spaces at its ends")
    if len(text) < LEAST_CHARACTERS:
        raise LobInputError(
            f"{source} must have at least {LEAST_CHARACTERS} characters, got {len(text)}; make one "
            "with: openssl rand -hex 32"
        )
    limits = None if problems is None else frozenset(problems)
    return Key(sha256(text.encode()).digest(), role, limits)


def read_keys(path: Path) -> list[Key]:
    """Return the keys of a TOML file: ``[[keys]]`` with key, role and perhaps problems."""
    data = read_toml(path)
    rows = data.get("keys")
    if data.keys() != {"keys"} or not isinstance(rows, list) or not rows:
        raise LobInputError(f"{path} must hold keys, each as [[keys]] with key and role")
    return [_read_key(f"key {number} of {path}", row) for number, row in enumerate(rows, 1)]


def _read_key(source: str, row: Any) -> Key:
    if not isinstance(row, dict) or not {"key", "role"} <= row.keys() <= FIELDS:
        raise LobInputError(f"{source} must have the fields key, role and perhaps problems")
    if not isinstance(row["key"], str) or row["role"] not in ROLES:
        raise LobInputError(f"{source} must have a text as its key, and the role decide or admin")
    problems = row.get("problems")
    if problems is not None and not (
        isinstance(problems, list) and problems and all(_is_problem(name) for name in problems)
    ):
        raise LobInputError(f"{source} must have a list of problems' names, got {problems!r:.80}")
    return make_key(source, row["key"], ROLES[row["role"]], problems)


def _is_problem(name: Any) -> bool:
    return isinstance(name, str) and PROBLEM.fullmatch(name) is not None


class KeyRing:
    """The keys that are valid now; `reload` reads them anew, and keeps the old if that fails."""

    def __init__(self, read: Callable[[], list[Key]]) -> None:
        self._read = read
        self.keys = read()

    def find(self, authorization: str) -> Key:
        """Return the key of a header; every key is compared, in constant time."""
        kind, _, text = authorization.partition(" ")
        given = sha256(text.strip().encode("latin-1")).digest()
        found = [key for key in self.keys if compare_digest(key.digest, given)]
        return found[0] if found and kind.lower() == "bearer" else NO_KEY

    def reload(self) -> None:
        """Read the keys again, and say so."""
        try:
            keys = self._read()
            if self.keys and not keys:
                raise LobInputError(
                    "no key is left, and everybody may do everything without one; give one"
                )
        except LobError as error:
            logger.error("going on with the old keys: %s", error)
            return
        self.keys = keys
        logger.info("keys reread", extra={"fields": {"keys": len(keys)}})
