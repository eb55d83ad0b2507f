"""Times as the store keeps them: whole microseconds since 1970 (UTC)."""

import time
from datetime import UTC, datetime

MINUTE = 60_000_000  # microseconds


def microseconds() -> int:
    """Return the time now."""
    return time.time_ns() // 1000


def as_date(time: float) -> datetime:
    """Return a time as a date."""
    return datetime.fromtimestamp(time / 1e6, UTC)
