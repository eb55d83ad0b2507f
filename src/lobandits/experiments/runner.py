"""reproduce: run the parts of experiments that are missing, judge claims, write a report."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from lobandits._checks import one_of, whole
from lobandits.errors import LobInputError
from lobandits.experiments.catalogue import chosen, drawn
from lobandits.experiments.claims import judge
from lobandits.experiments.drawing import render
from lobandits.experiments.experiment import SEEDS, Experiment, Outcome, Reproduction, Size
from lobandits.experiments.parts import (
    Generator,
    Key,
    Part,
    RatingData,
    Record,
    Records,
    Resources,
    load_part,
    part_key,
    save_part,
)
from lobandits.experiments.report import write_report

if TYPE_CHECKING:
    from rich.progress import Progress


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
        As in :func:`lobandits.simulate`.
    out
        Folder of the report and of finished parts.
    progress
        Show progress bars, if standard error is a terminal.
    """
    one_of("size", size, get_args(Size))
    experiments, pictured = chosen(names), drawn(names)
    workers = None if workers is None else whole("workers", workers)
    seed = whole("seed", seed, least=0)
    users = None if users is None else whole("users", users, least=2)
    n_seeds = SEEDS[size] if seeds is None else whole("seeds", seeds)
    one_of("generated", generated, get_args(Generator))
    ratings = RatingData(movielens, seed, n_seeds, generated)
    _make_folder(out)
    if movielens is not None and any(e.on_ratings for e in experiments):
        ratings.ratings  # noqa: B018  # read now: a wrong path must not cost an hour
    began = time.perf_counter()
    parts = {e.name: e.parts(size, seed, users) for e in experiments}
    costs = {name: sum(part.cost for part in each.values()) for name, each in parts.items()}
    with progress_bars(progress, sum(costs.values())) as bars:
        run = _Run(Resources(ratings, workers, executor), out, bars)
        outcomes = []
        for e in experiments:
            with bars.experiment(e.name, costs[e.name]):
                outcomes.append(run.outcome(e, parts[e.name], e.name in pictured))
    used = any(o.experiment.on_ratings and not o.broken for o in outcomes)
    facts = ratings.facts() if used else {}
    took = time.perf_counter() - began
    found = Reproduction(size, seed, n_seeds, out, facts, outcomes, took, run.fresh)
    write_report(found)
    return found


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LobInputError(f"cannot write to the folder {out}: {error.strerror}") from None


class ProgressBars:
    """Bars with the time left, which show only if standard error is a terminal."""

    def __init__(self, bars: "Progress", total: float) -> None:
        self._bars = bars
        bars.add_task("all experiments", total=total)

    @contextmanager
    def experiment(self, name: str, cost: float) -> Iterator[None]:
        """Show a bar for an experiment while it is at work."""
        task = self._bars.add_task(name, total=cost)
        yield
        self._bars.remove_task(task)

    def advance(self, cost: float) -> None:
        """Move all bars on."""
        for task in self._bars.task_ids:
            self._bars.advance(task, cost)

    def say(self, text: str) -> None:
        """Print a line above the bars, where they show."""
        if not self._bars.disable:
            self._bars.console.print(text, markup=False, highlight=False)


@contextmanager
def progress_bars(wanted: bool, total: float) -> Iterator[ProgressBars]:
    """Show bars of so much work in all, until the work is done."""
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    console = Console(stderr=True)
    with Progress(
        TimeElapsedColumn(),
        *Progress.get_default_columns(),
        console=console,
        transient=True,
        speed_estimate_period=120,
        disable=not wanted or not console.is_terminal,
    ) as bars:
        yield ProgressBars(bars, total)


@dataclass
class _Run:
    """The state of a run: records by key, so that figures share their parts."""

    resources: Resources
    folder: Path
    bars: ProgressBars
    records: dict[str, Record] = field(default_factory=dict)
    fresh: int = 0

    def outcome(self, experiment: Experiment, parts: Mapping[Key, Part], is_drawn: bool) -> Outcome:
        """Return what became of an experiment, whatever breaks in it."""
        began = time.perf_counter()
        ratings = self.resources.ratings
        keys: dict[Key, str] = {}
        records, pictures, why = Records({}), dict[str, str](), ""
        try:
            for key, part in parts.items():
                keys[key] = part_key(part.settings(ratings))
                records[key] = self.record(keys[key], part)
            if experiment.on_ratings:
                records = _on_ratings(records, ratings)
            findings = [f for claim in experiment.claims for f in judge(claim, records)]
            if is_drawn and experiment.draw is not None:
                pictures = render(experiment, records)
        except Exception as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            self.bars.say(f"{experiment.name} broke: {why}")
            records = Records(records)
            findings = [f for claim in experiment.claims for f in judge(claim, None, why)]
        took = time.perf_counter() - began
        shown = is_drawn and not why
        return Outcome(experiment, records, keys, findings, pictures, shown, why, took)

    def record(self, key: str, part: Part) -> Record:
        """Return a part's record: known, saved, or run now."""
        record = self.records.get(key) or load_part(self.folder, key)
        if record is not None:
            self.bars.advance(part.cost)
        else:
            record = part.run(self.resources, lambda share: self.bars.advance(share * part.cost))
            save_part(self.folder, key, record)
            self.fresh += 1
        self.records[key] = record
        return record


def _on_ratings(records: Records, ratings: RatingData) -> Records:
    """Return the records with what readers must know of the ratings."""
    facts = ratings.facts()
    title = "{data}: {users:,} users, {genres} genres".format(**facts)
    return Records(records, facts["data"], title)
