"""Processes of our own for the work of parts; they end with this process, whatever ends it.

A round of few users is mostly Python, and two threads of one process wait for each other.
"""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread


@contextmanager
def own_processes(n: int) -> Iterator[Executor]:
    """Yield ``n`` processes, started when they are needed; an error ends them at once."""
    others = active_children()
    pool = ProcessPoolExecutor(n, get_context("spawn"), initializer=_serve_parent)
    try:
        yield pool
    except BaseException:
        for child in active_children():
            if child not in others:
                child.terminate()
        raise
    finally:
        pool.shutdown()


def _serve_parent() -> None:
    """Leave Ctrl-C to the parent, and end when it is gone, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
