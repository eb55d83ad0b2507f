"""What may pass: keys say who may do what, and bodies have a limit."""

from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lobandits.service.http.refusals import refusal
from lobandits.service.http.routes import PAGE
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


class BodyLimit:
    """Answers 413 to a body above ``most`` bytes, however it is sent."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then answer or pass it on."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        first = await self._read(receive)
        if first is None:
            message = f"the body is larger than {self.most} bytes; send smaller batches"
            return await refusal(413, "too_large", message)(scope, receive, send)
        unread = [first]

        async def again() -> Message:
            return unread.pop() if unread else await receive()

        return await self.app(scope, again, send)

    async def _read(self, receive: Receive) -> Message | None:
        """Return the whole body as one message, None if it is too large."""
        body, size = bytearray(), 0
        while (message := await receive())["type"] == "http.request":
            part = message.get("body", b"")
            size += len(part)
            if size <= self.most:
                body += part
            # A body that is not far too large is read and dropped, so that we are heard.
            if not message.get("more_body") or size > 16 * self.most:
                return None if size > self.most else {"type": "http.request", "body": bytes(body)}
        return message  # the client went away
