"""What a server is told beside its service, and the layers that hold requests to it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lobandits.errors import LobInputError

API_KEY = "LOB_API_KEY"
ADMIN_KEY = "LOB_ADMIN_KEY"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PATIENCE = 16  # a body up to this many times too large is read and dropped, so that we are heard


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


def refusal(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer ``{"error": {"code", "message"}}``, whatever went wrong."""
    body = json.dumps({"error": {"code": code, "message": message}})
    return Response(body, status, headers, media_type="application/json")


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
            if not message.get("more_body") or size > PATIENCE * self.most:
                return None if size > self.most else {"type": "http.request", "body": bytes(body)}
        return message  # the client went away


class Role(IntEnum):
    """What a key allows; a higher role may do more."""

    ANYBODY = 0
    DECIDE = 1
    ADMIN = 2


PAGE = {"/": "page.html"} | {f"/static/{f}": f for f in ("page.css", "page.js", "charts.js")}
"""The files of the page by their paths. None holds data, so none needs a key."""

NEEDS = dict.fromkeys((*PAGE, "/healthz", "/readyz"), Role.ANYBODY) | dict.fromkeys(
    ("/v1/decisions", "/v1/decisions/batch", "/v1/rewards", "/v1/rewards/batch"), Role.DECIDE
)
"""The role that each path needs; any other path, also one that does not exist, needs ADMIN."""


class Guard:
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
            message = (
                "without keys this server answers only to localhost, 127.0.0.1 and [::1]; "
                f"set {API_KEY} and {ADMIN_KEY} to serve other names"
            )
            local = _is_local(headers.get("host", ""))
            return None if local else refusal(403, "forbidden", message)
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


def _is_local(host: str) -> bool:
    name, _, port = host.rpartition(":")
    return (name if port.isdigit() else host).strip("[]").lower() in LOOPBACK
