"""Why this arm? What a policy knows of one user, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Details(NamedTuple):
    """What one policy adds to an explanation: columns per arm and per state, and notes."""

    arms: Mapping[str, NDArray[Any]] = {}
    states: Mapping[str, NDArray[Any]] = {}
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Explanation:
    """What a policy knows of one user; ``print`` shows it as tables.

    Attributes
    ----------
    title : str
        The policy and the user.
    arms, states : list of dict
        One row per arm, one per state (empty where a policy has no states).
    notes : list of str
        What a person should know beyond the tables.
    """

    title: str
    arms: list[dict[str, Any]]
    states: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [self.title, _table(self.arms), _table(self.states), "\n".join(self.notes)]
        return "\n\n".join(part for part in parts if part)


def rows(**columns: Sequence[Any] | NDArray[Any]) -> list[dict[str, Any]]:
    """Return columns of equal length as a list of rows of plain Python values."""
    plain = {n: c.tolist() if isinstance(c, np.ndarray) else list(c) for n, c in columns.items()}
    return [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def _table(table: list[dict[str, Any]]) -> str:
    """Return rows as aligned text: words to the left, numbers to the right."""
    if not table:
        return ""
    cells = [list(table[0])] + [[_cell(value) for value in row.values()] for row in table]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    words = [isinstance(value, str) for value in table[0].values()]
    lines = (
        "  ".join(
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(line, widths, words, strict=True)
        ).rstrip()
        for line in cells
    )
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:.4g}"
    return str(value)
