"""An experiment as data: what is run, how it is drawn, what is claimed of it; and its outcome."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from pathlib import Path
from typing import Any, Literal

from lobandits.paper.claims import Claim, Finding
from lobandits.paper.drawing import Canvas
from lobandits.paper.parts import Key, Measure, Measurement, Part, Records, Simulation

Size = Literal["tiny", "default", "full"]
"""tiny is for tests: the ends of every sweep, few users, short horizons."""
SEEDS = {"tiny": 2, "default": 5, "full": 5}
"""Draws of genres, clustering and users, on ratings."""
TINY_USERS = 16
TINY = 20
"""By how much horizons are cut at the size "tiny"."""


@dataclass(frozen=True)
class Sweep:
    """Simulations of an environment of `Simulation`, over the product of axes.

    ``axes`` has the values of each swept parameter of the environment, where sizes differ by
    size, and of "c", by which policies' sigma is multiplied; ``fixed`` has its other parameters.
    ``users`` is by size, too, and on ratings for each seed. A ``name`` tells sweeps of one
    experiment apart, ``rounds`` are those that are kept.
    """

    environment: str
    axes: Mapping[str, Sequence[Any] | Mapping[str, Sequence[Any]]]
    users: Mapping[str, int]
    horizon: int
    policies: tuple[str, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    rounds: tuple[int, ...] = ()

    @property
    def on_ratings(self) -> bool:
        """Whether the simulated users come from the ratings."""
        return self.environment == "movielens"

    def parts(self, size: Size, users: int | None = None) -> dict[Key, Part]:
        """Return the simulations, by their values on the axes."""
        ranges = {axis: _values(values, size) for axis, values in self.axes.items()}
        ranges |= {"policies": [self.name]} if self.name else {}
        keys = [tuple(zip(ranges, v, strict=True)) for v in product(*ranges.values())]
        return {key: self._part(dict(key), size, users) for key in keys}

    def _part(self, at: dict[str, Any], size: Size, users: int | None) -> Part:
        tiny = size == "tiny"
        c, _ = at.pop("c", 1.0), at.pop("policies", "")
        return Simulation(
            environment=self.environment,
            options=dict(sorted({**self.fixed, **at}.items())),
            policies=self.policies,
            horizon=self.horizon // TINY if tiny else self.horizon,
            n_users=users or (TINY_USERS if tiny else self.users[size]),
            c=c,
            rounds=self.rounds,
        )


def _values(values: Sequence[Any] | Mapping[str, Sequence[Any]], size: Size) -> Sequence[Any]:
    if isinstance(values, Mapping):
        values = values["default" if size == "tiny" else size]
    return values if size != "tiny" or len(values) < 3 else (values[0], values[-1])


@dataclass(frozen=True)
class Survey:
    """One measurement: a function, and its options by size.

    With ``on_ratings`` the function is also given the ratings, as its first argument.
    """

    name: str
    measure: Measure
    options: Mapping[str, Mapping[str, Any]]
    on_ratings: bool = False

    def parts(self, size: Size, users: int | None = None) -> dict[Key, Part]:
        """Return the measurement; its size is its own."""
        options = dict(sorted(self.options[size].items()))
        return {(("measure", self.name),): Measurement(self.measure, options, self.on_ratings)}


@dataclass(frozen=True)
class Experiment:
    """A figure, table or number of the paper, which stands at ``place``.

    ``work`` is what is run, ``value`` what the numbers are, with their unit; if they are ``timed``
    no seed can repeat them; ``unit`` is what has one number each. ``draw`` makes the figure on a
    canvas; a table has None.
    """

    name: str
    place: str
    title: str
    work: tuple[Sweep | Survey, ...] = ()
    draw: Callable[[Records, Canvas], None] | None = None
    claims: tuple[Claim, ...] = ()
    note: str = ""
    value: str = "cumulative regret"
    unit: str = "users"
    timed: bool = False

    @property
    def on_ratings(self) -> bool:
        """Whether the numbers depend on the ratings at hand."""
        return any(work.on_ratings for work in self.work)

    @property
    def measures_time(self) -> bool:
        """Whether something is said of computation time."""
        return self.timed or any(claim.timed for claim in self.claims)

    def parts(self, size: Size, users: int | None = None) -> dict[Key, Part]:
        """Return all parts, by key; ``users`` overrides how many there are in simulations."""
        each = (work.parts(size, users) for work in self.work)
        return {key: part for parts in each for key, part in parts.items()}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one experiment: its records, their keys, its findings, or why it broke."""

    experiment: Experiment
    records: Records
    keys: Mapping[Key, Sequence[str]]
    """Of the files of each record, one for each seed."""
    findings: Sequence[Finding]
    pictures: Mapping[str, str]
    shown: bool
    broken: str

    @property
    def seconds(self) -> float:
        """What its parts took, one after the other."""
        return sum(sum(record.seconds.values()) for record in self.records.values())

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
    n_seeds: int
    folder: Path
    facts: Mapping[str, Any]
    """Of the ratings."""
    outcomes: Sequence[Outcome]
    seconds: float
    fresh: int
    """Parts that were run now, not read from the folder."""

    @property
    def drawn(self) -> str:
        """The size in numbers: users and seeds of the simulations."""
        records = [record for outcome in self.outcomes for record in outcome.records.values()]
        texts = []
        for name, kind in {"synthetic task": "synthetic", "ratings": "movielens"}.items():
            some = [r.drawn for r in records if r.settings.get("environment") == kind]
            texts += [f"{name}: {' or '.join(dict.fromkeys(some))}"] if some else []
        return "; ".join(texts).capitalize() or f"Seed {self.seed}"

    @property
    def broken(self) -> list[Outcome]:
        """The experiments that could not be finished."""
        return [outcome for outcome in self.outcomes if outcome.broken]

    @property
    def findings(self) -> list[Finding]:
        """The findings of all claims, in the order of the paper."""
        return [finding for outcome in self.outcomes for finding in outcome.findings]
