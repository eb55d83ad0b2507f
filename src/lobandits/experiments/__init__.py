"""The paper's figures, tables and claims, as data, and one runner: run what is missing, judge."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from lobandits._checks import closest, one_of, whole
from lobandits.errors import LobInputError
from lobandits.experiments.claims import Finding, judge
from lobandits.experiments.counts import COMPUTATION_TIME, FIGURE_3B, FILTERED_DATA
from lobandits.experiments.design import Experiment, Found, Key, RatingData, Size
from lobandits.experiments.draw import FIGURE_1, render
from lobandits.experiments.formulas import RARITY, SAMPLE_SIZE, THEOREM_1, THEOREM_2
from lobandits.experiments.movielens import (
    FIGURE_3A,
    FIGURE_4A,
    FIGURE_4B,
    FIGURE_6,
    FIGURE_7,
    FIGURE_8,
)
from lobandits.experiments.parts import Part, Record, Workplace, load_part, part_key, save_part
from lobandits.experiments.report import write_report
from lobandits.experiments.synthetic import FIGURE_2A, FIGURE_2B, FIGURE_2C, FIGURE_4, FIGURE_5

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["EXPERIMENTS", "GROUPS", "Reproduction", "reproduce"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *(FIGURE_1, THEOREM_1, RARITY, THEOREM_2, FIGURE_2A, FIGURE_2B, FIGURE_2C),
        *(FIGURE_3A, FIGURE_3B, FIGURE_4A, FIGURE_4B, COMPUTATION_TIME, FILTERED_DATA),
        *(FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, SAMPLE_SIZE),
    )
}
GROUPS: dict[str, tuple[str, ...]] = {
    "synthetic": tuple(name for name, e in EXPERIMENTS.items() if not e.on_ratings),
    "movielens": tuple(name for name, e in EXPERIMENTS.items() if e.on_ratings),
    "claims": tuple(name for name, e in EXPERIMENTS.items() if e.claims),
    "figure-2": ("figure-2a", "figure-2b", "figure-2c"),
    "figure-3": ("figure-3a", "figure-3b"),
}


def chosen(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments of these names and groups, in the order of the paper; none: all."""
    wanted: set[str] = set()
    for name in names:
        if name not in GROUPS and name not in EXPERIMENTS:
            hint = closest(name, [*EXPERIMENTS, *GROUPS])
            raise LobInputError(f"there is no experiment {name!r}; {hint}--list names all")
        wanted.update(GROUPS.get(name, (name,)))
    return [e for name, e in EXPERIMENTS.items() if name in wanted or not names]


def drawn(names: Sequence[str]) -> set[str]:
    """Return the names of the experiments to draw: "claims" asks for verdicts only."""
    rest = [name for name in names if name != "claims"]
    return {e.name for e in chosen(rest)} if rest or not names else set()


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one experiment: its records, their keys, its findings, or why it broke."""

    experiment: Experiment
    found: Found
    keys: Mapping[Key, str]
    findings: Sequence[Finding]
    pictures: Mapping[str, str]
    shown: bool
    broken: str
    seconds: float

    @property
    def by_claim(self) -> list[list[Finding]]:
        """The findings of each claim, one for each of its variants."""
        groups = groupby(self.findings, key=lambda finding: finding.claim.id)
        return [list(group) for _, group in groups]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """All that a run found."""

    size: str
    seed: int
    folder: Path
    facts: Mapping[str, Any]
    outcomes: Sequence[Outcome]
    seconds: float
    fresh: int
    """Parts that were run now, not read from the folder."""

    @property
    def broken(self) -> list[Outcome]:
        """The experiments that could not be finished."""
        return [outcome for outcome in self.outcomes if outcome.broken]

    @property
    def findings(self) -> list[Finding]:
        """The findings of all claims, in the order of the paper."""
        return [finding for outcome in self.outcomes for finding in outcome.findings]


def reproduce(
    names: Sequence[str] = (),
    *,
    size: Size = "default",
    seed: int = 0,
    movielens: Path | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    out: Path = Path("reproduction"),
    progress: bool = True,
) -> Reproduction:
    """Run experiments of the paper, draw them, test their claims, and write a report.

    The numbers depend on ``names``, ``size``, ``seed`` and the ratings alone. Finished parts are
    saved in ``out`` and not run again. An experiment that breaks does not stop the others; the
    claims that rest on it are "not testable here".

    Parameters
    ----------
    names
        Experiments or groups, see :data:`EXPERIMENTS`; "claims" tests all claims without
        drawing. None: everything.
    size
        "default", "full" (as the paper), or "tiny" (for tests).
    seed
        Names all random numbers.
    movielens
        Folder or zip of a MovieLens edition; without it, ratings are generated.
    workers, executor
        As in :func:`lobandits.simulate`.
    out
        Folder of the report and of finished parts.
    progress
        Show progress bars, if standard error is a terminal.
    """
    one_of("size", size, get_args(Size))
    experiments = chosen(names)
    workers = None if workers is None else whole("workers", workers)
    seed = whole("seed", seed, least=0)
    ratings = RatingData(movielens, seed)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LobInputError(f"cannot write to the folder {out}: {error.strerror}") from None
    if movielens is not None and any(e.on_ratings for e in experiments):
        ratings.ratings  # noqa: B018  # read now: a wrong path must not cost an hour
    began = time.perf_counter()
    parts = {e.name: e.parts(size, seed) for e in experiments}
    costs = {name: sum(part.cost for part in each.values()) for name, each in parts.items()}
    with _progress_bars(progress) as bars:
        run = _Run(Workplace(ratings, workers, executor), out, bars)
        bars.add_task("all experiments", total=sum(costs.values()))
        outcomes = []
        for e in experiments:
            task = bars.add_task(e.name, total=costs[e.name])
            outcomes.append(run.outcome(e, parts[e.name], e.name in drawn(names)))
            bars.remove_task(task)
    used = any(o.experiment.on_ratings and not o.broken for o in outcomes)
    facts = ratings.facts() if used else {}
    took = time.perf_counter() - began
    found = Reproduction(size, seed, out, facts, outcomes, took, run.fresh)
    write_report(found)
    return found


def _progress_bars(wanted: bool) -> "Progress":
    """Return bars with the time left, which show only if standard error is a terminal."""
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    console = Console(stderr=True)
    return Progress(
        TimeElapsedColumn(),
        *Progress.get_default_columns(),
        console=console,
        transient=True,
        speed_estimate_period=120,
        disable=not wanted or not console.is_terminal,
    )


@dataclass
class _Run:
    """The state of a run: records by key, so that figures share their parts."""

    place: Workplace
    folder: Path
    bars: "Progress"
    records: dict[str, Record] = field(default_factory=dict)
    fresh: int = 0

    def outcome(self, experiment: Experiment, parts: Mapping[Key, Part], is_drawn: bool) -> Outcome:
        """Return what became of an experiment, whatever breaks in it."""
        began = time.perf_counter()
        found, keys, ratings = Found({}), dict[Key, str](), self.place.ratings
        why, pictures = "", dict[str, str]()
        try:
            for key, part in parts.items():
                keys[key] = part_key(part.settings(ratings))
                found[key] = self.record(keys[key], part)
            if experiment.on_ratings:
                facts = ratings.facts()
                found.data = facts["data"]
                found.title = "{data}: {users:,} users, {genres} genres".format(**facts)
            findings = [f for claim in experiment.claims for f in judge(claim, found)]
            if is_drawn:
                pictures = render(experiment, found)
        except Exception as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            if not self.bars.disable:
                self.bars.console.print(
                    f"{experiment.name} broke: {why}", markup=False, highlight=False
                )
            found = Found(found)
            findings = [f for claim in experiment.claims for f in judge(claim, None, why)]
        took = time.perf_counter() - began
        shown = is_drawn and not why
        return Outcome(experiment, found, keys, findings, pictures, shown, why, took)

    def record(self, key: str, part: Part) -> Record:
        """Return a part's record: known, saved, or run now."""
        record = self.records.get(key) or load_part(self.folder, key)
        if record is not None:
            self.advance(part.cost)
        else:
            record = part.run(self.place, lambda share: self.advance(share * part.cost))
            save_part(self.folder, key, record)
            self.fresh += 1
        self.records[key] = record
        return record

    def advance(self, cost: float) -> None:
        """Move all bars on."""
        for task in self.bars.task_ids:
            self.bars.advance(task, cost)
