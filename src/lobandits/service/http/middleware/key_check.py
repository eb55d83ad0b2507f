"""Who may do what."""

from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lobandits.service.http.page import PAGE
from lobandits.service.http.refusals import refusal
from lobandits.service.http.settings import ADMIN_KEY, API_KEY, LOOPBACK, Settings


class Role(IntEnum):
    """What a key allows; a higher role may do more."""

    ANYBODY = 0
    DECIDE = 1
    ADMIN = 2


NEEDS = dict.fromkeys((*PAGE, "/healthz", "/readyz"), Role.ANYBODY) | dict.fromkeys(
    ("/v1/decisions", "/v1/decisions/batch", "/v1/rewards", "/v1/rewards/batch"), Role.DECIDE
)
"""The role that each path needs; any other path, also one that does not exist, needs ADMIN."""


class KeyCheck:
    """Lets a request pass if its key allows it.

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
            host = headers.get("host", "")
            name, _, port = host.rpartition(":")
            if (name if port.isdigit() else host).strip("[]").lower() in LOOPBACK:
                return None
            message = (
                "without keys this server answers only to localhost, 127.0.0.1 and [::1]; "
                f"set {API_KEY} and {ADMIN_KEY} to serve other names"
            )
            return refusal(403, "forbidden", message)
        role = self.role(headers.get("authorization", ""))
        if role >= NEEDS.get(scope["path"], Role.ADMIN):
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
