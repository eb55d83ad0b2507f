"""What a policy tells a person about its next choice, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Details(NamedTuple):
    """What one policy adds to an `Explanation`: columns per arm and per state, and notes."""

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
        One row per arm, one per state if the policy has states.
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
    """Return columns of equal length as rows of plain Python values."""
    plain = {n: c.tolist() if isinstance(c, np.ndarray) else list(c) for n, c in columns.items()}
    return [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def _table(table: list[dict[str, Any]]) -> str:
    """Return rows as aligned text: words to the left, numbers to the right."""
    columns = []
    for name in table[0] if table else ():
        values = [row[name] for row in table]
        cells = [name, *map(_cell, values)]
        align = str.ljust if isinstance(values[0], str) else str.rjust
        columns.append([align(cell, max(map(len, cells))) for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:.4g}"
    return str(value)
