"""Memory is asked for before it is taken: a refusal that says why, in the place of a traceback."""

import os
from pathlib import Path

from lobandits.errors import LobInputError

MEMINFO, LIMIT = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
GIB = 2**30


def check_memory(needed: float, what: str, fix: str) -> None:
    """Refuse what needs more bytes than there are: ``what`` needs them, ``fix`` helps."""
    there = available_memory()
    if there is not None and needed > there:
        raise LobInputError(
            f"{what} needs {needed / GIB:,.1f} GiB of memory, and {there / GIB:,.1f} are free; "
            f"{fix}"
        )


def available_memory() -> int | None:
    """Return the bytes that this process may still take, or None where nothing tells."""
    free = None
    if MEMINFO.exists():
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = LIMIT.read_text().strip() if LIMIT.exists() else "max"
    if free is None or not limit.isdecimal():
        return free
    return min(free, int(limit))
