"""Logs as JSON lines on standard output."""

import json
import logging
import sys
import time

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
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def start_logging(level: str = "info") -> None:
    """Log the service, and uvicorn's errors, to standard output as JSON lines."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    for name, least in (("lobandits.service", level), ("uvicorn.error", "warning")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(least.upper())
        logger.propagate = False
