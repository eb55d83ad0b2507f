"""What a server tells of itself: JSON lines on standard output, and numbers for Prometheus."""

import json
import logging
import os
import sys
import time

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lobandits.service.answers import refusal

LOG = logging.getLogger("lobandits.service")
LEVELS = ("debug", "info", "warning", "error")
FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # through it, processes add up their numbers
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = frozenset(("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"))


class JsonLines(logging.Formatter):
    """Writes a record as ``{"time", "level", "event", ...}``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{clock}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def start_logging(level: str = "info") -> None:
    """Send the service's logs, and uvicorn's errors, to standard output as JSON lines."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    for name, least in (("lobandits.service", level), ("uvicorn.error", "warning")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(least.upper())
        logger.propagate = False


class Metrics:
    """The counters of a server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter("requests", "Requests answered.", "method", "route", "status")
        self.seconds = Histogram(
            "lob_request_seconds", "Time to answer.", ("route",),
            buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.decisions = self._counter("decisions", "Decisions made.", "arm")
        self.rewards = self._counter("rewards", "Rewards answered, by status.", "status")

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"lob_{name}", meaning, labels, registry=self.registry)

    def text(self) -> bytes:
        """Return all numbers in Prometheus' text format.

        With a shared folder they are those of all processes, else of this one.
        """
        if FOLDER not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)


class Watch:
    """The outermost layer: every request is logged and counted, every failure answered.

    A line of the log has the route's template, never what was asked. An unexpected error is
    logged with its traceback; the client learns that there was one.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and watch what comes back."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        status, began = 0, time.perf_counter()

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
            answer = refusal(500, "internal", "unexpected error; the server's log has more")
            await answer(scope, receive, seen)
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        route = _route(scope)
        self.metrics.requests.labels(method, route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        fields = {"method": method, "route": route, "status": status}
        LOG.info("request", extra={"fields": {**fields, "ms": round(1000 * seconds, 3)}})


def _route(scope: Scope) -> str:
    """Return the template of the route, since paths hold the names of users."""
    route = scope.get("route")
    return route.path_format if route is not None else "(none)"
