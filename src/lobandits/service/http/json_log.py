"""Logs as JSON lines on standard output, and a line for every request."""

import json
import logging
import sys
import time
import traceback
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lobandits.service.http.metrics import Metrics
from lobandits.service.http.refusals import refusal

LEVELS = ("debug", "info", "warning", "error")


class JsonLines(logging.Formatter):
    """Writes a record as ``{"time", "level", "event", ...}``."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        line = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1]:
            line["traceback"] = _frames(record.exc_info[1])
        return json.dumps(line)


def _frames(error: BaseException) -> str:
    """Return where an error and its causes came from, without their words: these may hold names."""
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    where = "".join(traceback.format_tb(error.__traceback__)) + type(error).__qualname__
    return where if earlier is None else f"{_frames(earlier)}\n\n{where}"


class NoRepeats(logging.Filter):
    """Lets a message pass once a minute: whoever is outside must not be able to fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._passed: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the message did not pass within the last minute."""
        message = record.getMessage()[:80]
        if record.created - self._passed.get(message, -60.0) < 60.0:
            return False
        if len(self._passed) > 100:
            self._passed.clear()
        self._passed[message] = record.created
        return True


def start_logging(level: str = "info") -> None:
    """Log the service, and errors of uvicorn and asyncio, to standard output as JSON lines."""
    ours, theirs = (logging.StreamHandler(sys.stdout) for _ in range(2))
    theirs.addFilter(NoRepeats())
    loggers = (
        ("lobandits.service", level, ours),
        ("lobandits.basics", "warning", ours),
        ("uvicorn.error", "warning", theirs),
        ("asyncio", "error", theirs),
    )
    for name, least, handler in loggers:
        handler.setFormatter(JsonLines())
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(least.upper())
        logger.propagate = False


logger = logging.getLogger(__name__)


class RequestLog:
    """The outermost layer: every request is logged and counted, every failure answered."""

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
            logger.exception("failed", extra={"fields": {"route": _route(scope)}})
            if status:  # half an answer must not look like a whole one
                raise
            answer = refusal(500, "internal", "unexpected error; the server's log has more")
            await answer(scope, receive, seen)
        finally:
            self._note(scope, status, perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        known = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")
        method = scope["method"] if scope["method"] in known else "other"
        route = _route(scope)
        self.metrics.requests.labels(method, route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        ms = round(1000 * seconds, 3)
        fields = {"method": method, "route": route, "status": status, "ms": ms}
        logger.info("request", extra={"fields": fields})


def _route(scope: Scope) -> str:
    """Return the template of the route, since paths hold the names of users."""
    route = scope.get("route")
    return route.path_format if route is not None else "(none)"
