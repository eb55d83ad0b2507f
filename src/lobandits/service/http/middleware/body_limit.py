"""A limit to the size of bodies."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lobandits.service.http.refusals import refusal


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
