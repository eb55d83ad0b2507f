r"""Features: what is known of a user, or of an arm, before the first reward, as numbers x.

.. math:: x_j = (v_j - c_j) / s_j,

centred and scaled, so that 0 says nothing: what is missing, or was never seen, is the population's.

* A *number* is centred at its mean and scaled by its standard deviation; beyond the least and the
  greatest that were seen it counts as these. Where numbers were missing, a flag says so.
* A *boolean* is the number 0 or 1.
* A *category* has a column for each of its values, 1 for the one that holds. All of them share one
  scale, by which the feature has the variance 1: rare values weigh no more than common ones.

So renaming categories, permuting columns or standardising by hand changes nothing.
"""

import math
import numbers
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from lobandits.basics.checks import FloatArray, closest, finite_array, one_of, shaped_array
from lobandits.basics.frozen import Frozen
from lobandits.errors import LobInputError

CATEGORY, BOOLEAN, NUMBER = KINDS = ("category", "boolean", "number")
MOST_VALUES = 100  # of a category: more are names, or free text
LEAST_ROWS = 3  # that a value of a category needs to be told apart
TRUE, FALSE = {"true", "yes", "1", "1.0"}, {"false", "no", "0", "0.0"}
MISSING = "missing"

Table = Any
"""Features of several: a data frame, a dict of columns, or a list of dicts, one for each."""


@dataclass(frozen=True)
class Feature(Frozen):
    """One feature: how its values become numbers.

    Parameters
    ----------
    name : str
    kind : str
        One of `KINDS`.
    values : tuple of str
        Of a category: its values, a column each.
    centre, scale : (columns,)
        c and s.
    least, greatest : float
        Of a number: what was seen.
    """

    name: str
    kind: str
    values: tuple[str, ...]
    centre: FloatArray
    scale: FloatArray
    least: float = 0.0
    greatest: float = 1.0

    def __post_init__(self) -> None:
        one_of("kind of a feature", self.kind, KINDS)
        centre = finite_array(f"feature {self.name!r}: centre", self.centre, ndim=1)
        scale = finite_array(f"feature {self.name!r}: scale", self.scale, ndim=1)
        columns = (len(self.values),) if self.kind == CATEGORY else (1, 2)
        if len(centre) not in columns or scale.shape != centre.shape or (scale <= 0).any():
            raise LobInputError(
                f"feature {self.name!r} has {len(centre)} centres and {len(scale)} scales; "
                f"expected {' or '.join(map(str, columns))} of each, and scales above 0"
            )
        self._set(values=tuple(self.values), centre=centre, scale=scale)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of x."""
        if self.kind == CATEGORY:
            return tuple(f"{self.name} {value}" for value in self.values)
        return (self.name, f"{self.name} {MISSING}")[: len(self.centre)]

    def encode(self, column: Sequence[Any]) -> tuple[FloatArray, int]:
        """Return x of these values, (n, columns), and how many of them say nothing."""
        if self.kind == CATEGORY:
            place: dict[str | None, int] = {value: i for i, value in enumerate(self.values)}
            at = np.array([place.get(text_of(value), -1) for value in column], np.int64)
            known = at >= 0
            x = (at[:, None] == np.arange(len(self.values))) - self.centre
        else:
            read = boolean_of if self.kind == BOOLEAN else number_of
            raw = np.array([read(value) for value in column], np.float64)
            known = ~np.isnan(raw)
            inside = np.clip(raw, self.least, self.greatest)
            x = np.stack([np.where(known, inside, self.centre[0]), ~known], axis=1)
            x = x[:, : len(self.centre)] - self.centre
        flags = slice(0, 1) if self.kind != CATEGORY else slice(None)
        x[~known, flags] = 0.0
        return x / self.scale, int((~known).sum())

    @property
    def covariance(self) -> FloatArray:
        """What the columns of x vary by, (columns, columns), among those whose features these are.

        Of a category it is that of a draw of its values, of variance 1 in all.
        """
        if self.kind != CATEGORY:
            return np.eye(len(self.centre))
        shares = self.centre
        covariance: FloatArray = (np.diag(shares) - np.outer(shares, shares)) / self.scale[0] ** 2
        return covariance

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw x of n users, (n, columns): values as common as they were, numbers as normal."""
        if self.kind == CATEGORY:
            at = np.searchsorted(np.cumsum(self.centre), rng.random(n), side="right")
            raw = (at[:, None] == np.arange(len(self.values))).astype(np.float64)
        elif self.kind == BOOLEAN:
            raw = (rng.random((n, len(self.centre))) < self.centre).astype(np.float64)
        else:
            raw = (rng.random((n, len(self.centre))) < self.centre).astype(np.float64)
            value = self.centre[0] + self.scale[0] * rng.standard_normal(n)
            raw[:, 0] = np.clip(value, self.least, self.greatest)
        x: FloatArray = (raw - self.centre) / self.scale
        x[raw.sum(axis=1) == 0.0 if self.kind == CATEGORY else slice(0, 0)] = 0.0
        return x

    def __str__(self) -> str:
        if self.kind == NUMBER:
            return f"{self.name} (number, {self.centre[0]:.3g} on average)"
        if self.kind == BOOLEAN:
            return f"{self.name} (boolean, {100 * self.centre[0]:.3g} % true)"
        more = ", ..." if len(self.values) > 3 else ""
        return f"{self.name} (category: {', '.join(self.values[:3])}{more})"


def _features(data: Any) -> tuple[Feature, ...]:
    if not isinstance(data, list) or not all(isinstance(one, Mapping) for one in data):
        raise LobInputError(f"features must be a list of objects, got {data!r:.80}")
    return tuple(Feature(**Feature._decoded(one, "a feature")) for one in data)


@dataclass(frozen=True)
class Features(Frozen):
    """Several features: how a table of them becomes the matrix x.

    Parameters
    ----------
    all : tuple of Feature

    Examples
    --------
    >>> table = {"age": [20, 30, 40, 30], "country": ["SE", "NO", "SE", "NO"]}
    >>> features = Features.of(table, least_rows=1)
    >>> print(features)
    age (number, 30 on average), country (category: NO, SE)
    >>> features.encode({"country": ["SE", "DK"], "age": [30, 47]}).round(2)
    array([[ 0.  , -0.71,  0.71],
           [ 1.41,  0.  ,  0.  ]])
    """

    all: tuple[Feature, ...] = field(metadata={"decode": _features})

    def __post_init__(self) -> None:
        names = [feature.name for feature in self.all]
        if not names or len(set(names)) < len(names):
            raise LobInputError(f"features must be at least one, each once, got {names}")
        self._set(all=tuple(self.all))

    @classmethod
    def of(
        cls,
        table: Table,
        kinds: Mapping[str, str] | None = None,
        noun: str = "users",
        least_rows: int = LEAST_ROWS,
        most_values: int = MOST_VALUES,
    ) -> "Features":
        """Return the features of a table, of kinds by the data but for those that are given.

        Parameters
        ----------
        table
            A row for each user (or arm): a data frame, a dict of columns, or a list of dicts.
        kinds
            "category", "boolean" or "number", by the name of a column.
        noun
            Whose features these are, for messages.
        least_rows
            Values of a category that fewer have count as new.
        most_values
            A category with more is refused.
        """
        columns, _ = columns_of(table)
        given = dict(kinds or {})
        for name in given:
            one_of("feature", name, list(columns))
        return cls(
            tuple(
                _feature(name, column, given.get(name), noun, least_rows, most_values)
                for name, column in columns.items()
            )
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(feature.name for feature in self.all)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of x, p of them."""
        return tuple(name for feature in self.all for name in feature.columns)

    @cached_property
    def places(self) -> dict[str, slice]:
        """Which columns of x each feature has."""
        ends = np.cumsum([0, *(len(feature.columns) for feature in self.all)]).tolist()
        return {f.name: slice(*ends[i : i + 2]) for i, f in enumerate(self.all)}

    def encode(self, table: Table, n: int | None = None) -> FloatArray:
        """Return x of a table, (n, p); features that it lacks are 0, and so is what says nothing.

        Names that are no features are refused. An array of numbers is x itself.
        """
        return self.encode_counting(table, n)[0]

    def encode_counting(
        self, table: Table, n: int | None = None
    ) -> tuple[FloatArray, dict[str, int]]:
        """Return x of a table, and how many values of each feature say nothing, where any do."""
        if isinstance(table, np.ndarray):
            shape = len(table) if n is None else n, len(self.columns)
            return shaped_array("features", table, shape), {}
        columns, rows = columns_of(table)
        for name in columns:
            if name not in self.names:
                raise LobInputError(
                    f"unknown feature {name!r}; {closest(name, self.names)}The model knows "
                    f"{', '.join(self.names)}"
                )
        if n is not None and rows != n:
            raise LobInputError(f"features has {rows} rows for {n} users; give one for each")
        x, silent = np.zeros((rows, len(self.columns))), dict[str, int]()
        for feature in self.all:
            if feature.name in columns:
                place = self.places[feature.name]
                x[:, place], missing = feature.encode(columns[feature.name])
                silent |= {feature.name: missing} if missing else {}
            elif rows:
                silent[feature.name] = rows
        return x, silent

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw x of n users, (n, p), every feature by itself."""
        return np.concatenate([feature.draw(n, rng) for feature in self.all], axis=1)

    def __str__(self) -> str:
        return ", ".join(map(str, self.all))


def _feature(
    name: str,
    column: Sequence[Any],
    given: str | None,
    noun: str,
    least_rows: int,
    most_values: int,
) -> Feature:
    """Return the feature of a column, or refuse one that cannot tell anything."""
    there = [value for value in column if text_of(value) is not None]
    if not there:
        raise LobInputError(f"feature {name!r} is empty; leave it out")
    kind = one_of(f"kind of the feature {name!r}", given or kind_of(name, there), KINDS)
    if kind == CATEGORY:
        return _category(name, there, noun, least_rows, most_values)
    read = boolean_of if kind == BOOLEAN else number_of
    values = np.array([read(value) for value in there], np.float64)
    if np.isnan(values).any():
        wrong = there[int(np.flatnonzero(np.isnan(values))[0])]
        raise LobInputError(
            f"feature {name!r} is to be a {kind}, and has the value {wrong!r}; correct it, or make "
            "the feature a category"
        )
    if not values.std() > 1e-12 * max(abs(values).max(), 1e-300):
        raise LobInputError(
            f"feature {name!r} has one value, {there[0]!r}, for all {noun}, which tells nothing; "
            "leave it out"
        )
    missing = 1.0 - len(there) / len(column)
    flag = [(missing, math.sqrt(missing * (1.0 - missing)))] if missing > 0 else []
    centre, scale = zip((values.mean(), values.std()), *flag, strict=True)
    return Feature(
        name, kind, (), np.array(centre), np.array(scale), float(values.min()), float(values.max())
    )


def _category(
    name: str, there: Sequence[Any], noun: str, least_rows: int, most_values: int
) -> Feature:
    sizes = Counter(str(text_of(value)) for value in there)
    known = sorted(value for value, size in sizes.items() if size >= least_rows)
    if len(known) > most_values or len(sizes) > max(most_values, len(there) / 2):
        raise LobInputError(
            f"feature {name!r} has {len(sizes):,} values for {len(there):,} {noun}, more than "
            f"{most_values}; is it a name or free text? Leave it out, or group its values"
        )
    if len(sizes) == 1 or not known:
        raise LobInputError(
            f"feature {name!r} has "
            + (f"one value, {there[0]!r}, for all {noun}" if len(sizes) == 1 else
               f"{len(sizes)} values, none for {least_rows} {noun}")
            + ", which tells nothing; leave it out"
        )  # fmt: skip
    share = np.array([sizes[value] for value in known]) / len(there)
    spread = math.sqrt(float((share * (1.0 - share)).sum()))
    return Feature(name, CATEGORY, tuple(known), share, np.full(len(known), spread))


def kind_of(name: str, values: Sequence[Any]) -> str:
    """Return the kind that values seem to be of; refuse times, and what is no plain value."""
    for value in values:
        if isinstance(value, date | time | timedelta | np.datetime64 | np.timedelta64):
            raise LobInputError(
                f"feature {name!r} holds times, as {value}; make it a number, such as the days "
                "since then"
            )
        if not isinstance(value, str | bool | np.bool_ | numbers.Number):
            raise LobInputError(
                f"feature {name!r} holds {type(value).__name__}, as {value!r:.40}; expected "
                "numbers, text, or True and False"
            )
    if all(isinstance(value, bool | np.bool_) for value in values):
        return BOOLEAN
    text = any(isinstance(value, str) for value in values)
    return CATEGORY if text else NUMBER


def text_of(value: Any) -> str | None:
    """Return a value as text, whole numbers without a fraction; None where it is missing."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, float | np.floating):
        if math.isnan(value):
            return None
        return str(int(value)) if float(value).is_integer() else str(float(value))
    return str(value).strip()


def number_of(value: Any) -> float:
    """Return a value as a number; nan where it is missing or none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def boolean_of(value: Any) -> float:
    """Return 1 for true, 0 for false, nan for everything else."""
    text = str(value).strip().lower()
    return 1.0 if text in TRUE else 0.0 if text in FALSE else math.nan


def columns_of(table: Table) -> tuple[dict[str, list[Any]], int]:
    """Return the columns of a table by name, and its number of rows."""
    if isinstance(table, Mapping):
        columns = {str(name): _listed(name, column) for name, column in table.items()}
    elif hasattr(table, "columns"):
        names = getattr(table, "column_names", table.columns)  # an Arrow table's columns are data
        columns = {str(name): _listed(name, table[name]) for name in names}
    elif isinstance(table, Sequence) and not isinstance(table, str | bytes):
        if not all(isinstance(row, Mapping) for row in table):
            raise LobInputError("features as a list must be of dicts, one for each user")
        names = dict.fromkeys(str(name) for row in table for name in row)
        columns = {name: [row.get(name) for row in table] for name in names}
        return columns, len(table)
    else:
        raise LobInputError(
            f"features of type {type(table).__name__} are unknown; give a data frame, a dict of "
            "columns, or a list of dicts, one for each user"
        )
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise LobInputError(f"features must be columns of one length, got {lengths}")
    return columns, next(iter(lengths.values()), 0)


def _listed(name: Any, column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow, polars and pandas, NumPy
        if hasattr(column, method):
            values: list[Any] = getattr(column, method)()
            return values
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise LobInputError(
            f"feature {str(name)!r} must be a column, a value for each user, got {column!r:.80}"
        )
    return list(column)
