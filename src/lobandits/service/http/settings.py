"""The settings of a server."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lobandits.errors import LobInputError
from lobandits.service.http.keys import Key, Role, make_key, read_keys

API_KEY = "LOB_API_KEY"
ADMIN_KEY = "LOB_ADMIN_KEY"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


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
