"""What may pass: keys say who may do what, other sites nothing, and bodies have a limit."""

from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lobandits.service.http.keys import ADMIN_KEY, API_KEY, LOOPBACK, KeyRing, Role
from lobandits.service.http.refusals import refusal
from lobandits.service.http.routes import LIMITS, PAGE

OPEN = (*PAGE, "/healthz", "/readyz")
DECIDING = ("/v1/decisions", "/v1/decisions/batch", "/v1/rewards", "/v1/rewards/batch")
NEEDS = dict.fromkeys(OPEN, Role.ANYBODY) | dict.fromkeys(DECIDING, Role.DECIDE)
"""The role that each path needs; any other path, also one that does not exist, needs ADMIN."""

IN_BODY = DECIDING
"""Paths whose routes look themselves into which problems a request goes."""

IN_QUERY = (
    "/v1/log", "/v1/activity", "/v1/comparison", "/v1/history", "/v1/model", "/v1/model/rollback",
)  # fmt: skip
"""Paths of one problem, which the query names; so is GET of a user. Others are of all problems."""


class KeyCheck:
    """Lets a request pass if its key allows it.

    Without keys everybody may do everything, but only under a name of this machine: else a web
    page could reach the server through the browser of someone who sits at it. For the same reason
    no page of another site may send anything, and bodies must say that they are JSON.
    """

    def __init__(self, app: ASGIApp, ring: KeyRing, usual: str) -> None:
        self.app = app
        self.ring = ring
        self.usual = usual

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        answer = None
        if scope["type"] == "http":
            answer = self._refuse(scope) or _refuse_foreign(scope)
        await (answer or self.app)(scope, receive, send)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self.ring.keys:
            host = headers.get("host", "")
            name, _, port = host.rpartition(":")
            if (name if port.isdigit() else host).strip("[]").lower() in LOOPBACK:
                return None
            message = (
                "without keys this server answers only to localhost, 127.0.0.1 and [::1]; "
                f"set {API_KEY} and {ADMIN_KEY} to serve other names"
            )
            return refusal(403, "forbidden", message)
        key = self.ring.find(headers.get("authorization", ""))
        if key.role >= NEEDS.get(scope["path"], Role.ADMIN):
            return None if key.problems is None else self._limit(scope, key.problems)
        if key.role == Role.ANYBODY:
            message = "the header 'Authorization: Bearer KEY' is missing or its key is wrong"
            return refusal(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        return refusal(403, "forbidden", f"this key may not do that; use the one in {ADMIN_KEY}")

    def _limit(self, scope: Scope, problems: frozenset[str]) -> Response | None:
        """Refuse what is not of these problems, as far as path and query tell; note the rest."""
        path = scope["path"]
        scope[LIMITS] = problems
        if path in OPEN or path in IN_BODY:
            return None
        asked = QueryParams(scope["query_string"]).getlist("problem") or [self.usual]
        of_a_user = path.startswith("/v1/users/") and scope["method"] == "GET"
        if (path in IN_QUERY or of_a_user) and problems.issuperset(asked):
            return None
        message = f"this key may look after these problems only: {', '.join(sorted(problems))}"
        return refusal(403, "forbidden", message)


def _refuse_foreign(scope: Scope) -> Response | None:
    """Refuse what a page of another site may send through a browser without asking."""
    if scope["method"] in ("GET", "HEAD"):
        return None
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower():
        return refusal(403, "forbidden", "pages of other sites may not send requests here")
    has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if has_body and not (kind.startswith("application/") and kind.endswith(("/json", "+json"))):
        return refusal(422, "invalid_request", "send JSON, with content-type: application/json")
    return None


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
