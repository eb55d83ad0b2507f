"""reproduce: run the parts of experiments that are missing, judge claims, write a report."""

import os
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import get_args

from lobandits.basics.checks import one_of, whole
from lobandits.errors import LobInputError
from lobandits.paper.bars import ProgressBars, progress_bars
from lobandits.paper.catalogue import chosen, drawn
from lobandits.paper.claims import judge
from lobandits.paper.drawing import render
from lobandits.paper.experiment import SEEDS, Experiment, Outcome, Reproduction, Size
from lobandits.paper.part_runs import Job, PartRuns
from lobandits.paper.parts import (
    Generator,
    Key,
    Part,
    RatingData,
    Records,
    Resources,
    caller,
    part_key,
)
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
    workers, executor
        As in :func:`lobandits.simulate`. What measures computation time runs last, alone, on one
        thread of this process.
    out
        Folder of the report and of finished parts.
    progress
        Show progress bars, if standard error is a terminal.
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
    parts = {e.name: e.parts(size, seed, users) for e in experiments}
    ratings = RatingData(movielens, seed, n_seeds, generated, caller(executor))
    if movielens is not None and any(e.on_ratings for e in experiments):
        ratings.ratings  # noqa: B018  # read now: a wrong path must not cost an hour
    jobs = _jobs(experiments, parts, ratings)
    resources = Resources(ratings, n_workers, executor)
    with progress_bars(progress, _costs(jobs)) as bars, PartRuns(resources, out, bars) as runs:
        run = _Run(ratings, runs, bars, pictured)
        outcomes = run.outcomes(experiments, jobs)
    used = any(o.experiment.on_ratings and not o.broken for o in outcomes)
    facts = ratings.facts() if used else {}
    took = time.perf_counter() - began
    found = Reproduction(size, seed, n_seeds, out, facts, outcomes, took, runs.n_fresh)
    write_report(found)
    return found


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LobInputError(f"cannot write to the folder {out}: {error.strerror}") from None


Jobs = Mapping[str, Mapping[Key, Job]]
"""The parts of each experiment; shared ones count for the first that has them."""


def _jobs(
    experiments: Sequence[Experiment],
    parts: Mapping[str, Mapping[Key, Part]],
    ratings: RatingData,
) -> Jobs:
    """Return all parts, of the dearest experiment first; those that measure time are alone."""
    known: dict[str, Job] = {}

    def job(part: Part, experiment: Experiment) -> Job:
        key = part_key(part.settings(ratings))
        return known.setdefault(key, Job(part, key, experiment.name, experiment.measures_time))

    costs = {name: sum(part.cost for part in each.values()) for name, each in parts.items()}
    order = sorted(experiments, key=lambda e: (not e.measures_time, -costs[e.name]))
    return {e.name: {at: job(part, e) for at, part in parts[e.name].items()} for e in order}


def _in_turns(experiments: Sequence[Experiment], jobs: Jobs) -> list[Job]:
    """Return the parts that may run beside others: in turns those on ratings, and others.

    Those on ratings keep workers busy with learning, while the others compile their policies.
    """
    on_ratings = {e.name for e in experiments if e.on_ratings}
    beside = [job for job in _distinct(jobs) if not job.alone]
    learning = [job for job in beside if job.experiment in on_ratings]
    others = [job for job in beside if job.experiment not in on_ratings]
    return [job for two in zip_longest(learning, others) for job in two if job is not None]


def _distinct(jobs: Jobs) -> list[Job]:
    """Return each part once, though experiments share it."""
    return list({job.key: job for each in jobs.values() for job in each.values()}.values())


def _costs(jobs: Jobs) -> dict[str, float]:
    """Return the work of the parts that count for each experiment."""
    costs = dict.fromkeys(jobs, 0.0)
    for job in _distinct(jobs):
        costs[job.experiment] += job.part.cost
    return costs


@dataclass(frozen=True)
class _Run:
    """What a run shares between experiments."""

    ratings: RatingData
    runs: PartRuns
    bars: ProgressBars
    pictured: Collection[str]

    def outcomes(self, experiments: Sequence[Experiment], jobs: Jobs) -> list[Outcome]:
        """Run, judge and draw experiments as they are done: last those that must run alone."""
        self.runs.start(_in_turns(experiments, jobs))
        waiting = {e.name: e for e in experiments}
        found = {}
        while waiting:
            name = self.runs.first_done({name: jobs[name].values() for name in waiting})
            found[name] = self.outcome(waiting.pop(name), jobs[name])
            self.bars.finish(name)
        return [found[e.name] for e in experiments]

    def outcome(self, experiment: Experiment, jobs: Mapping[Key, Job]) -> Outcome:
        """Return what became of an experiment, whatever breaks in it."""
        keys = {place: job.key for place, job in jobs.items()}
        is_drawn = experiment.name in self.pictured
        records, pictures, why = Records({}), dict[str, str](), ""
        try:
            for place, job in jobs.items():
                records[place] = self.runs.record(job)
            if experiment.on_ratings:
                records = _on_ratings(records, self.ratings)
            findings = [f for claim in experiment.claims for f in judge(claim, records)]
            if is_drawn and experiment.draw is not None:
                pictures = render(experiment, records)
        except Exception as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            self.bars.say(f"{experiment.name} broke: {why}")
            records = Records(records)
            findings = [f for claim in experiment.claims for f in judge(claim, None, why)]
        return Outcome(experiment, records, keys, findings, pictures, is_drawn and not why, why)


def _on_ratings(records: Records, ratings: RatingData) -> Records:
    """Return the records with what readers must know of the ratings."""
    facts = ratings.facts()
    title = "{data}: {users:,} users, {genres} genres".format(**facts)
    return Records(records, facts["data"], title)
