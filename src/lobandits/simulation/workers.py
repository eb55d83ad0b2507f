"""Chunks on threads, processes or a cluster: few at a time, and their outcomes in order."""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from itertools import islice

from lobandits.simulation.chunk import Chunk, Control, run_chunk
from lobandits.simulation.policy_run import Outcome

PATIENCE = 0.2  # seconds between looks for Ctrl-C, where waiting for a lock hides it
Pending = Future[dict[str, Outcome]]


def worker_pool(executor: Executor | None, workers: int) -> AbstractContextManager[Executor]:
    """Return the executor given, which stays open, or threads of our own."""
    if executor is not None:
        return nullcontext(executor)
    return ThreadPoolExecutor(workers, thread_name_prefix="lob-simulate")


def outcomes_in_order(
    pool: Executor, chunks: Iterator[Chunk], window: int, control: Control
) -> Generator[dict[str, Outcome], None, None]:
    """Yield outcomes in order, of at most ``window`` chunks under way; an early end stops them."""
    pending: deque[Pending] = deque()
    try:
        while True:
            for chunk in islice(chunks, window - len(pending)):
                pending.append(_submit(pool, chunk, control))
            if not pending:
                return
            _wait_for_next(pending)
            while pending and pending[0].done():
                yield pending.popleft().result()
    finally:
        control.stop.set()
        for future in pending:
            future.cancel()


def _submit(pool: Executor, chunk: Chunk, control: Control) -> Pending:
    """Start a chunk; only threads share ``control``, others report when they are done."""
    if isinstance(pool, ThreadPoolExecutor):
        return pool.submit(run_chunk, chunk, control)
    future = pool.submit(run_chunk, chunk)
    future.add_done_callback(lambda _: control.advance(chunk.n_decisions))
    return future


def _wait_for_next(pending: deque[Pending]) -> None:
    """Wait until some chunk is done; raise the first error of any."""
    running = [future for future in pending if not future.done()]
    while running and running[0] is pending[0]:
        if wait(running, timeout=PATIENCE, return_when=FIRST_COMPLETED).done:
            break
    for future in pending:
        if future.done() and (error := future.exception()) is not None:
            raise error
