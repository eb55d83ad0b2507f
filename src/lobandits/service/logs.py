"""Structured logs: one JSON object per line, on standard output."""

import json
import logging
import logging.config
import sys
import time

LOG = logging.getLogger("lobandits.service")
LEVELS = ("debug", "info", "warning", "error")


class JsonLines(logging.Formatter):
    """Writes a record as ``{"time", "level", "event", ...}``.

    Examples
    --------
    >>> record = logging.LogRecord("x", logging.INFO, "", 0, "request", (), None)
    >>> record.fields = {"status": 200}
    >>> json.loads(JsonLines().format(record))["status"]
    200
    """

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
