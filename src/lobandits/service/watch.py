"""The outermost layer: every request is logged and counted, every failure answered."""

from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lobandits.service.answers import refusal
from lobandits.service.logs import LOG
from lobandits.service.metrics import METHODS, Metrics

NOWHERE = "(none)"


class Watch:
    """Logs one line for each request, with the route's template, never with what was asked.

    An unexpected error is logged with its traceback; the client learns that there was one.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and watch what comes back."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        status, began = 0, perf_counter()

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, seen)
        except Exception:
            LOG.exception("failed", extra={"fields": {"route": _route(scope)}})
            if status:  # half an answer must not look like a whole one
                raise
            await refusal(500, "internal", "unexpected error; the server's log has more")(
                scope, receive, seen
            )
        finally:
            self._note(scope, status, perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        route = _route(scope)
        self.metrics.request(method, route, status, seconds)
        fields: dict[str, Any] = {"method": method, "route": route, "status": status}
        LOG.info("request", extra={"fields": {**fields, "ms": round(1000 * seconds, 3)}})


def _route(scope: Scope) -> str:
    """Return the template of the route, since paths hold the names of users."""
    route = scope.get("route")
    return route.path_format if route is not None else NOWHERE
