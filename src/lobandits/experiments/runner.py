"""One runner for all experiments: run what is missing, draw, judge, report."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from lobandits._checks import one_of, whole
from lobandits.errors import LobInputError
from lobandits.experiments.catalogue import chosen, drawn
from lobandits.experiments.claims import Finding, judge
from lobandits.experiments.data import RatingData
from lobandits.experiments.design import Experiment, Found, Key, Size
from lobandits.experiments.parts import Part, Workplace
from lobandits.experiments.progress import Progress, show_progress, stopwatch
from lobandits.experiments.record import Record
from lobandits.experiments.store import load_part, part_key, save_part
from lobandits.experiments.svg import render

SIZES = ("tiny", "default", "full")


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one experiment: its records, their keys, its findings, or why it broke."""

    experiment: Experiment
    found: Found
    keys: Mapping[Key, str]
    findings: Sequence[Finding]
    broken: str = ""
    shown: bool = False
    pictures: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

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
    fresh: int = 0
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
    from lobandits.experiments.report import write_report

    one_of("size", size, SIZES)
    experiments = chosen(names)
    workers = None if workers is None else whole("workers", workers)
    seed = whole("seed", seed, least=0)
    ratings = RatingData(movielens, seed)
    place = Workplace(ratings, workers, executor)
    folder = _folder(out)
    if movielens is not None and any(e.on_ratings for e in experiments):
        ratings.ratings  # noqa: B018  # read now: a wrong path must not cost an hour
    run = _Run(place, size, seed, folder)
    clock = stopwatch()
    parts = {e.name: e.parts(size, run.seed) for e in experiments}
    cost = {name: _cost(each.values()) for name, each in parts.items()}
    with show_progress(sum(cost.values()), progress) as bars:
        outcomes = []
        for experiment in experiments:
            bars.start(experiment.name, cost[experiment.name])
            is_drawn = experiment.name in drawn(names)
            outcomes.append(run.outcome(experiment, parts[experiment.name], is_drawn, bars))
    facts = _facts(ratings, outcomes)
    found = Reproduction(size, run.seed, folder, facts, outcomes, clock(), run.fresh)
    write_report(found)
    return found


@dataclass
class _Run:
    """The state of a run: records by key, so that figures share their parts."""

    place: Workplace
    size: Size
    seed: int
    folder: Path
    records: dict[str, Record] = field(default_factory=dict)
    fresh: int = 0

    def outcome(
        self, experiment: Experiment, parts: Mapping[Key, Part], is_drawn: bool, bars: Progress
    ) -> Outcome:
        """Return what became of an experiment, whatever breaks in it."""
        clock = stopwatch()
        records: dict[Key, Record] = {}
        keys: dict[Key, str] = {}
        try:
            for key, part in parts.items():
                keys[key] = part_key(part.settings(self.place.ratings))
                records[key] = self.record(keys[key], part, bars)
            found = self.found(records) if experiment.on_ratings else Found(records)
            findings = [f for claim in experiment.claims for f in judge(claim, found)]
            pictures = render(experiment, found) if is_drawn else {}
        except Exception as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            bars.say(f"{experiment.name} broke: {why}")
            lost = [f for claim in experiment.claims for f in judge(claim, None, why)]
            return Outcome(experiment, Found(records), keys, lost, why, seconds=clock())
        return Outcome(experiment, found, keys, findings, "", is_drawn, pictures, clock())

    def found(self, records: Mapping[Key, Record]) -> Found:
        """Return records that rest on the ratings."""
        ratings = self.place.ratings
        return Found(records, ratings.edition, ratings.title)

    def record(self, key: str, part: Part, bars: Progress) -> Record:
        """Return a part's record: known, saved, or run now."""
        record = self.records.get(key) or load_part(self.folder, key)
        if record is not None:
            bars.advance(part.cost)
        else:
            record = part.run(self.place, lambda share: bars.advance(share * part.cost))
            save_part(self.folder, key, record)
            self.fresh += 1
        self.records[key] = record
        return record


def _cost(parts: Iterable[Part]) -> float:
    return sum(part.cost for part in parts)


def _folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LobInputError(f"cannot write to the folder {out}: {error.strerror}") from None
    return out


def _facts(ratings: RatingData, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what is known of the ratings, where any experiment used them."""
    if not any(o.experiment.on_ratings and not o.broken for o in outcomes):
        return {}
    return ratings.facts()
