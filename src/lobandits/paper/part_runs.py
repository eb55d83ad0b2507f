"""Runs of parts, each part once: several beside each other, and those that measure time alone."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from lobandits.paper.bars import ProgressBars
from lobandits.paper.parts import Part, Record, Resources, load_part, save_part

AHEAD = 4
"""Parts under way for each worker of an executor: while one compiles, others keep it busy."""


@dataclass(frozen=True)
class Job:
    """A part, the key of its file, the experiment that it counts for, and who may run beside."""

    part: Part
    key: str
    experiment: str
    alone: bool


class PartRuns:
    """Threads of this process that run parts, or wait for workers to do their work.

    Numbers do not depend on what runs beside what. But compiling, clustering and the last users of
    a part leave workers idle, unless another part has work for them.
    """

    def __init__(self, resources: Resources, folder: Path, bars: ProgressBars) -> None:
        self._resources, self._folder, self._bars = resources, folder, bars
        self._records: dict[str, Future[Record]] = {}
        self._fresh: list[str] = []

    @property
    def n_fresh(self) -> int:
        """How many parts were run now, not read from the folder."""
        return len(self._fresh)

    def start(self, jobs: Sequence[Job]) -> None:
        """Start these, in this order."""
        if not jobs:
            return
        workers = self._resources.workers or 1
        at_once = workers * (1 if self._resources.executor is None else AHEAD)
        each = min(workers, -(-at_once // len(jobs)))
        resources = replace(self._resources, workers=each)
        threads = ThreadPoolExecutor(min(at_once, len(jobs)), "lob-parts")
        for job in jobs:
            self._records[job.key] = threads.submit(self._run, job, resources)
        threads.shutdown(wait=False)

    def first_done(self, jobs: Mapping[str, Iterable[Job]]) -> str:
        """Return the first name all of whose parts are done; wait for it, if any was started."""
        while True:
            left = {
                name: [j.key for j in each if not self._is_done(j)] for name, each in jobs.items()
            }
            name = min(left, key=lambda name: len(left[name]))
            started = [
                self._records[k] for each in left.values() for k in each if k in self._records
            ]
            if not left[name] or not started:
                return name
            wait(started, return_when=FIRST_COMPLETED)

    def _is_done(self, job: Job) -> bool:
        return job.key in self._records and self._records[job.key].done()

    def record(self, job: Job) -> Record:
        """Return the record of a part: wait for it, or, if it was not started, run it here."""
        if job.key not in self._records:
            found = self._records[job.key] = Future()
            try:
                found.set_result(self._run(job, replace(self._resources, workers=1, executor=None)))
            except Exception as error:
                found.set_exception(error)
        return self._records[job.key].result()

    def _run(self, job: Job, resources: Resources) -> Record:
        """Return a part's record: saved, or run now."""

        def advance(share: float) -> None:
            self._bars.advance(job.experiment, share * job.part.cost)

        record = load_part(self._folder, job.key)
        if record is not None:
            advance(1.0)
            return record
        record = job.part.run(resources, advance)
        save_part(self._folder, job.key, record)
        self._fresh.append(job.key)
        return record

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Stop what is under way, if anything is: nobody waits for it any more."""
        self._resources.stop.set()
        for record in self._records.values():
            record.cancel()
