"""reproduce: run the parts of experiments that are missing, judge claims, write a report."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Self, get_args

from lobandits.basics.checks import one_of, whole
from lobandits.basics.progress import progress_bar
from lobandits.errors import LobInputError
from lobandits.paper.catalogue import chosen, drawn
from lobandits.paper.claims import judge
from lobandits.paper.drawing import caption, render
from lobandits.paper.experiment import SEEDS, Experiment, Outcome, Reproduction, Size
from lobandits.paper.parts import Generator, Key, Part, RatingData, Record, Records, joined
from lobandits.paper.parts.storage import load_part, part_key, save_part
from lobandits.paper.report import write_report


def reproduce(
    names: Sequence[str] = (),
    *,
    size: Size = "default",
    seed: int = 0,
    users: int | None = None,
    seeds: int | None = None,
    movielens: Path | None = None,
    generated: Generator = "planted",
    workers: int | None = None,
    executor: Executor | None = None,
    out: Path = Path("reproduction"),
    progress: bool = True,
) -> Reproduction:
    """Run experiments of the paper, draw them, test their claims, and write a report.

    The numbers depend on ``names``, ``size``, ``seed``, ``users``, ``seeds`` and the ratings alone.
    Finished parts are saved in ``out`` and not run again. An experiment that breaks does not stop
    the others; the claims that rest on it are "not testable here".

    Parameters
    ----------
    names
        Experiments or groups, see :data:`EXPERIMENTS`; "claims" tests all claims without
        drawing. None: everything.
    size
        "default", "full" (more users and values), or "tiny" (for tests).
    seed
        Names all random numbers.
    users
        Users of every simulation, on ratings for each seed; by default 300 and 20, with "full"
        1000 and 100. The two theorems have sizes of their own.
    seeds
        On ratings: draws of genres, clustering, users and noise, from ``seed`` on; by default 5.
        On the synthetic task every user has orders of their own, so that users are enough.
    movielens
        Folder or zip of a MovieLens edition; without it, ratings are generated.
    generated
        How: "planted" (60 orders, as the policies under test assume) or "gaussian" (no states).
    workers
        Parts that run beside each other, by default one for each processor. What measures
        computation time runs last, alone.
    executor
        Where simulations are played, as in :func:`lobandits.simulate`; what measures computation
        time stays in this process.
    out
        Folder of the report and of finished parts.
    progress
        Show a progress bar, if standard error is a terminal.
    """
    one_of("size", size, get_args(Size))
    experiments, pictured = chosen(names), drawn(names)
    n_workers = whole("workers", (os.cpu_count() or 1) if workers is None else workers)
    seed = whole("seed", seed, least=0)
    users = None if users is None else whole("users", users, least=2)
    n_seeds = SEEDS[size] if seeds is None else whole("seeds", seeds)
    one_of("generated", generated, get_args(Generator))
    _make_folder(out)
    began = time.perf_counter()
    if executor is not None:
        executor.submit(int).result()  # a pool may fork, which is safe before there are threads
    path = movielens if any(e.on_ratings for e in experiments) else None
    draws = RatingData(path, seed, generated).draws(n_seeds)
    jobs = {e.name: _jobs(e, size, users, draws) for e in experiments}
    timed = {key for e in experiments if e.measures_time for key in _keys(jobs[e.name])}
    beside = {job.key: job for name in jobs for job in _flat(jobs[name]) if job.key not in timed}
    outcomes = {}
    with (
        progress_bar(len(beside) + len(timed), progress, "reproducing", "parts") as advance,
        Runs(out, executor, advance) as runs,
    ):
        runs.start(beside.values(), n_workers)
        for e in sorted(experiments, key=lambda e: not timed.isdisjoint(_keys(jobs[e.name]))):
            outcomes[e.name] = _outcome(e, jobs[e.name], runs, draws[0], e.name in pictured)
    used = any(o.experiment.on_ratings and not o.broken for o in outcomes.values())
    found = Reproduction(
        size=size,
        seed=seed,
        n_seeds=n_seeds,
        folder=out,
        facts=draws[0].facts() if used else {},
        outcomes=[outcomes[e.name] for e in experiments],
        seconds=time.perf_counter() - began,
        fresh=len(runs.fresh),
    )
    write_report(found)
    return found


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LobInputError(f"cannot write to the folder {out}: {error.strerror}") from None


@dataclass(frozen=True)
class Job:
    """A part with the ratings of one seed, and the key of its file."""

    part: Part
    ratings: RatingData
    key: str


Jobs = Mapping[Key, Sequence[Job]]
"""Those of each part of an experiment, one for each seed."""


def _jobs(
    experiment: Experiment, size: Size, users: int | None, draws: Sequence[RatingData]
) -> Jobs:
    return {
        place: [
            Job(part, ratings, part_key(part.settings(ratings)))
            for ratings in (draws if part.on_ratings else draws[:1])
        ]
        for place, part in experiment.parts(size, users).items()
    }


def _flat(jobs: Jobs) -> list[Job]:
    return [job for each in jobs.values() for job in each]


def _keys(jobs: Jobs) -> set[str]:
    return {job.key for job in _flat(jobs)}


class Runs:
    """Runs every job once, beside others on threads or alone, unless its record is saved."""

    def __init__(
        self, folder: Path, executor: Executor | None, advance: Callable[[int], None]
    ) -> None:
        self._folder, self._executor, self._advance = folder, executor, advance
        self._records: dict[str, Future[Record]] = {}
        self._stop = Event()
        self.fresh: list[str] = []
        """Keys of what was run now, not read from the folder."""

    def start(self, jobs: Iterable[Job], workers: int) -> None:
        """Start these, in this order, so many at once."""
        threads = ThreadPoolExecutor(workers, "lob-parts")
        self._records = {job.key: threads.submit(self._run, job, self._executor) for job in jobs}
        threads.shutdown(wait=False)

    def record(self, job: Job) -> Record:
        """Return the record of a job: wait for it, or, if it was not started, run it alone."""
        if job.key not in self._records:
            wait(self._records.values())
            found = self._records[job.key] = Future()
            try:
                found.set_result(self._run(job, None))
            except Exception as error:
                found.set_exception(error)
        return self._records[job.key].result()

    def _run(self, job: Job, executor: Executor | None) -> Record:
        """Return a job's record: saved, or run now."""
        record = load_part(self._folder, job.key)
        if record is None:
            record = job.part.run(job.ratings, self._stop, executor)
            save_part(self._folder, job.key, record)
            self.fresh.append(job.key)
        self._advance(1)
        return record

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Stop what is under way, if anything is: nobody waits for it any more."""
        self._stop.set()
        for record in self._records.values():
            record.cancel()


def _outcome(
    experiment: Experiment, jobs: Jobs, runs: Runs, ratings: RatingData, is_drawn: bool
) -> Outcome:
    """Return what became of an experiment, whatever breaks in it."""
    records, pictures, why = Records({}), dict[str, str](), ""
    try:
        for place, each in jobs.items():
            records[place] = joined([runs.record(job) for job in each])
        if experiment.on_ratings:
            facts = ratings.facts()
            title = "{data}: {users:,} users, {genres} genres".format(**facts)
            records = Records(records, facts["data"], title)
        findings = [f for claim in experiment.claims for f in judge(claim, records)]
        if is_drawn and experiment.draw is not None:
            words = caption(records, experiment.unit, experiment.timed)
            pictures = render(experiment.name, experiment.draw, records, words)
    except Exception as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        records = Records(records)
        findings = [f for claim in experiment.claims for f in judge(claim, None, why)]
    keys = {place: [job.key for job in each] for place, each in jobs.items()}
    return Outcome(experiment, records, keys, findings, pictures, is_drawn and not why, why)
