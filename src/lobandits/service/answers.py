"""Answers that say no, and the one that FastAPI does not give: to a body that is too large."""

import json
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BATCH = 1_000
PATIENCE = 16  # a body up to this many times too large is read and dropped, so that we are heard


def refusal(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer ``{"error": {"code", "message"}}``, whatever went wrong.

    Examples
    --------
    >>> refusal(404, "not_found", "there is no such route").body
    b'{"error": {"code": "not_found", "message": "there is no such route"}}'
    """
    body = json.dumps({"error": {"code": code, "message": message}}).encode()
    return Response(body, status, headers, media_type="application/json")


class BodyLimit:
    """Answers 413 to a body above ``most`` bytes, however it is sent; pure ASGI."""

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
        """Return the whole body as one message, or None if it is too large."""
        body, size = bytearray(), 0
        while (message := await receive())["type"] == "http.request":
            part = message.get("body", b"")
            size += len(part)
            if size <= self.most:
                body += part
            if not message.get("more_body") or size > PATIENCE * self.most:
                return None if size > self.most else {"type": "http.request", "body": bytes(body)}
        return message  # the client went away
