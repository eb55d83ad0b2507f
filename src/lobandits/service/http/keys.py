"""Keys: who has one may decide, or do everything, in all problems or in some of them."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any, NamedTuple

from lobandits.basics.files import read_toml
from lobandits.errors import LobError, LobInputError
from lobandits.service.requests import PROBLEM

API_KEY = "LOB_API_KEY"
ADMIN_KEY = "LOB_ADMIN_KEY"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
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
    return isinstance(name, str) and re.fullmatch(PROBLEM, name) is not None


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


@dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Who has the ``api_key`` may decide and record rewards, who has the ``admin_key`` may do
    everything; each may be several, with commas between them. ``keys_file`` has more, also keys
    for some problems only. Without any key everybody may do everything, from this machine. Bodies
    of requests have up to ``max_body`` bytes.
    """

    api_key: str | None = field(default=None, repr=False)
    admin_key: str | None = field(default=None, repr=False)
    max_body: int = 4 * 2**20
    keys_file: Path | None = None

    def __post_init__(self) -> None:
        self.keys()

    def keys(self) -> list[Key]:
        """Return the keys; those of the file as they are now."""
        found = [] if self.keys_file is None else read_keys(self.keys_file)
        for name, texts, role in (
            (API_KEY, self.api_key, Role.DECIDE),
            (ADMIN_KEY, self.admin_key, Role.ADMIN),
        ):
            found += [make_key(name, text, role) for text in (texts or "").split(",") if text]
        if len({key.digest for key in found}) < len(found):
            raise LobInputError(
                f"a key is given twice; those of {API_KEY}, {ADMIN_KEY} and the file must differ"
            )
        return found

    @property
    def has_keys(self) -> bool:
        """Whether requests need a key."""
        return bool(self.keys())

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ, keys_file: Path | None = None
    ) -> "Settings":
        """Return the settings with the keys of the environment; an empty one is no key."""
        keys = environment.get(API_KEY), environment.get(ADMIN_KEY)
        return cls(*keys, keys_file=keys_file)

    def check_host(self, host: str) -> None:
        """Refuse to listen beyond this machine without a key."""
        if not self.has_keys and host not in LOOPBACK:
            raise LobInputError(
                f"--host {host} can be reached from other machines, so a key is needed: "
                f"set {API_KEY} and {ADMIN_KEY}, or listen on 127.0.0.1"
            )
