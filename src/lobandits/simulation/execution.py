"""Running chunks on workers: threads of our own, or any executor."""

import pickle
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from itertools import islice

from lobandits.errors import LobInputError
from lobandits.simulation.runner import Chunk, Control, Outcome, run_chunk
from lobandits.simulation.specs import Spec

Pending = Future[dict[str, Outcome]]
PATIENCE = 0.2
"""Seconds between looks for Ctrl-C, where waiting for a lock hides it."""


@contextmanager
def worker_pool(executor: Executor | None, workers: int) -> Iterator[Executor]:
    """Yield the executor: the caller's, left open, or threads of our own."""
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="lob-simulate") as threads:
        yield threads


def outcomes_in_order(
    pool: Executor, chunks: Iterable[Chunk], window: int, control: Control
) -> Generator[dict[str, Outcome], None, None]:
    """Yield the chunks' outcomes in order, with at most ``window`` of them under way.

    Whatever ends this early, an error or Ctrl-C, stops the other chunks.
    """
    waiting = iter(chunks)
    pending: deque[Pending] = deque()
    try:
        while True:
            for chunk in islice(waiting, window - len(pending)):
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
    """Start a chunk; threads share ``control``, other workers report only when they are done."""
    if isinstance(pool, ThreadPoolExecutor):
        return pool.submit(run_chunk, chunk, control)
    future = pool.submit(run_chunk, chunk)
    decisions = chunk.n_users * chunk.rounds * len(chunk.specs)
    future.add_done_callback(lambda _: control.advance(decisions))
    return future


def _wait_for_next(pending: deque[Pending]) -> None:
    """Wait until the first chunk, or some other one, is done; raise the first error of any."""
    running = [future for future in pending if not future.done()]
    while running and running[0] is pending[0]:
        if wait(running, timeout=PATIENCE, return_when=FIRST_COMPLETED).done:
            break
    for future in pending:
        if future.done() and (error := future.exception()) is not None:
            raise error


def check_executor(executor: Executor | None, specs: Mapping[str, Spec]) -> None:
    """Refuse what is no executor, and for processes a policy that cannot be sent to them."""
    if not isinstance(executor, Executor | None):
        raise LobInputError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
    if not isinstance(executor, ProcessPoolExecutor):
        return
    for label, spec in specs.items():
        try:
            pickle.dumps(spec)
        except Exception as error:
            raise LobInputError(
                f"policy {label!r} cannot be sent to another process ({error}); "
                "define its function at the top level of a module"
            ) from None
