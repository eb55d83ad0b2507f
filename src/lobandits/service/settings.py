"""What a server is told beside its service, and the layer that asks requests for their key."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lobandits.errors import LobInputError
from lobandits.service.answers import refusal

API_KEY = "LOB_API_KEY"
ADMIN_KEY = "LOB_ADMIN_KEY"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PAGE = {"/": "page.html"} | {f"/static/{f}": f for f in ("page.css", "page.js", "charts.js")}
"""The files of the page by their paths. None holds data, so none needs a key."""


class Role(IntEnum):
    """What a key allows; a higher role may do all that a lower one may."""

    ANYBODY = 0
    DECIDE = 1
    ADMIN = 2


NEEDS = {
    **dict.fromkeys((*PAGE, "/healthz", "/readyz"), Role.ANYBODY),
    "/v1/decisions": Role.DECIDE,
    "/v1/decisions/batch": Role.DECIDE,
    "/v1/rewards": Role.DECIDE,
    "/v1/rewards/batch": Role.DECIDE,
}
"""The role that each path needs; any other path, also one that does not exist, needs ADMIN."""


@dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Attributes
    ----------
    api_key : str or None
        Who has it may decide and record rewards.
    admin_key : str or None
        Who has it may do everything. Without any key everybody may, from this machine.
    max_body : int
        Largest body of a request, in bytes.

    Examples
    --------
    >>> Settings.from_environment({"LOB_API_KEY": "k-1"}).has_keys
    True
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


class Guard:
    """Lets a request pass if its key allows it; pure ASGI.

    Without keys everybody may do everything, but only under a name of this machine: else a web
    page could reach the server through the browser of someone who sits at it.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        keys = ((Role.DECIDE, settings.api_key), (Role.ADMIN, settings.admin_key))
        self.keys = [(role, sha256(key.encode()).digest()) for role, key in keys if key is not None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        answer = self._refuse(scope) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, send)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self.keys:
            return None if _is_local(headers.get("host", "")) else refusal(403, "forbidden", ALONE)
        need = NEEDS.get(scope["path"], Role.ADMIN)
        role = self.role(headers.get("authorization", ""))
        if role >= need:
            return None
        if role == Role.ANYBODY:
            message = "the header 'Authorization: Bearer KEY' is missing or its key is wrong"
            return refusal(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        return refusal(403, "forbidden", f"this key may not do that; use the one in {ADMIN_KEY}")

    def role(self, authorization: str) -> Role:
        """Return the role of a header; every key is compared, in constant time."""
        kind, _, key = authorization.partition(" ")
        given = sha256(key.strip().encode("latin-1")).digest()
        found = [role for role, known in self.keys if compare_digest(known, given)]
        return max(found, default=Role.ANYBODY) if kind.lower() == "bearer" else Role.ANYBODY


ALONE = (
    "without keys this server answers only to localhost, 127.0.0.1 and [::1]; "
    f"set {API_KEY} and {ADMIN_KEY} to serve other names"
)


def _is_local(host: str) -> bool:
    name, _, port = host.rpartition(":")
    return (name if port.isdigit() else host).strip("[]").lower() in LOOPBACK
