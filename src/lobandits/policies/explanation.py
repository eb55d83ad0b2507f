"""What a policy tells a person about its next choice, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import BoolArray, user_indices
from lobandits.basics.tables import text_table
from lobandits.rules.choices import normalised

if TYPE_CHECKING:
    from lobandits.policies.policy import Policy


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
        arms, states = (text_table(table, _cells) for table in (self.arms, self.states))
        parts = [self.title, arms, states, "\n".join(self.notes)]
        return "\n\n".join(part for part in parts if part)


def explanation(policy: "Policy[Any]", state: Any, user: int, allowed: BoolArray) -> Explanation:
    """Return what ``policy`` says of one user: what it saw, its `details`, and its chances."""
    row = user_indices(user, state.n_users)
    alone = policy.take(row)
    plays, one = int(state.plays[user]), alone.seen(state.take(row))
    some = allowed[row if len(allowed) > 1 else [0]]
    details = alone.details(one, some)
    arms = {"arm": alone.arms, "plays": one.counts[0], "mean": one.means[0], **details.arms}
    if not some.all():
        arms["allowed"] = some[0]
    n_states = len(next(iter(details.states.values()), ()))
    return Explanation(
        title=f"{policy!r}, user {user}, {plays} plays",
        arms=rows(**arms, probability=normalised(alone.odds(one, some))[0]),
        states=rows(state=range(n_states), **details.states),
        notes=list(details.notes),
    )


def rows(**columns: Sequence[Any] | NDArray[Any]) -> list[dict[str, Any]]:
    """Return columns of equal length as rows of plain Python values."""
    plain = {n: c.tolist() if isinstance(c, np.ndarray) else list(c) for n, c in columns.items()}
    return [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def _cells(values: Sequence[Any]) -> list[str]:
    return [_cell(value) for value in values]


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:.4g}"
    return str(value)
