"""The settings of a server."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from lobandits.errors import LobInputError

API_KEY = "LOB_API_KEY"
ADMIN_KEY = "LOB_ADMIN_KEY"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Who has the ``api_key`` may decide and record rewards, who has the ``admin_key`` may do
    everything; without any key everybody may, from this machine. Bodies of requests have up to
    ``max_body`` bytes.
    """

    api_key: str | None = field(default=None, repr=False)
    admin_key: str | None = field(default=None, repr=False)
    max_body: int = 4 * 2**20

    def __post_init__(self) -> None:
        for name, key in ((API_KEY, self.api_key), (ADMIN_KEY, self.admin_key)):
            if key is not None and not (key.isascii() and key.isprintable() and key.strip() == key):
                raise LobInputError(f"{name} must be printable ASCII without spaces at its ends")
        if self.has_keys and self.api_key == self.admin_key:
            raise LobInputError(f"{API_KEY} and {ADMIN_KEY} must differ: they are two roles")

    @property
    def has_keys(self) -> bool:
        """Whether requests need a key."""
        return self.api_key is not None or self.admin_key is not None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Return the settings with the keys of the environment; an empty one is no key."""
        return cls(environment.get(API_KEY) or None, environment.get(ADMIN_KEY) or None)

    def check_host(self, host: str) -> None:
        """Refuse to listen beyond this machine without a key."""
        if not self.has_keys and host not in LOOPBACK:
            raise LobInputError(
                f"--host {host} can be reached from other machines, so a key is needed: "
                f"set {API_KEY} and {ADMIN_KEY}, or listen on 127.0.0.1"
            )
