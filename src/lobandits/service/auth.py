"""Who may do what: ``Authorization: Bearer KEY``, with one key to decide and one for everything."""

from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lobandits.service.answers import refusal
from lobandits.service.routes.page import PATHS
from lobandits.service.settings import ADMIN_KEY, API_KEY, LOOPBACK, Settings


class Role(IntEnum):
    """What a key allows; a higher role may do all that a lower one may."""

    ANYBODY = 0
    DECIDE = 1
    ADMIN = 2


NEEDS = {
    **dict.fromkeys(PATHS, Role.ANYBODY),  # the page holds no data, it asks for the admin key
    "/healthz": Role.ANYBODY,
    "/readyz": Role.ANYBODY,
    "/v1/decisions": Role.DECIDE,
    "/v1/decisions/batch": Role.DECIDE,
    "/v1/rewards": Role.DECIDE,
    "/v1/rewards/batch": Role.DECIDE,
}
"""The role that each path needs; any other path, also one that does not exist, needs ADMIN."""


class Guard:
    """Lets a request pass if its key allows it; pure ASGI.

    Without keys everybody may do everything, but only under a name of this machine: else a web
    page could reach the server through the browser of someone who sits at it.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        keys = ((Role.DECIDE, settings.api_key), (Role.ADMIN, settings.admin_key))
        self.keys = [(role, _digest(key.encode())) for role, key in keys if key is not None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        answer = self.refuse(scope) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, send)

    def refuse(self, scope: Scope) -> Response | None:
        """Return the answer to a request that may not pass."""
        headers = Headers(scope=scope)
        if not self.keys:
            return None if _is_local(headers.get("host", "")) else _foreign()
        need = NEEDS.get(scope["path"], Role.ADMIN)
        if need == Role.ANYBODY:
            return None
        role = self.role(headers.get("authorization", ""))
        if role == Role.ANYBODY:
            return _unauthorized()
        return None if role >= need else _forbidden()

    def role(self, authorization: str) -> Role:
        """Return the role of a header; every key is compared, in constant time."""
        kind, _, key = authorization.partition(" ")
        given = _digest(key.strip().encode("latin-1"))
        found = [role for role, known in self.keys if compare_digest(known, given)]
        return max(found, default=Role.ANYBODY) if kind.lower() == "bearer" else Role.ANYBODY


def _digest(key: bytes) -> bytes:
    return sha256(key).digest()


def _is_local(host: str) -> bool:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    return name.strip("[]").lower() in LOOPBACK


def _unauthorized() -> Response:
    message = "the header 'Authorization: Bearer KEY' is missing or its key is wrong"
    return refusal(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})


def _forbidden() -> Response:
    return refusal(403, "forbidden", f"this key may not do that; use the one in {ADMIN_KEY}")


def _foreign() -> Response:
    message = (
        "without keys this server answers only to localhost, 127.0.0.1 and [::1]; "
        f"set {API_KEY} and {ADMIN_KEY} to serve other names"
    )
    return refusal(403, "forbidden", message)
