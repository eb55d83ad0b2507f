"""What became of one experiment, and of all that were run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from lobandits.experiments.claims import Finding
from lobandits.experiments.experiment import Experiment
from lobandits.experiments.records import Key, Records


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one experiment: its records, their keys, its findings, or why it broke."""

    experiment: Experiment
    records: Records
    keys: Mapping[Key, str]
    """Of the parts' files."""
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
    """Of the ratings."""
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
