"""Experiments as data: what is simulated, how it is drawn, and what the paper says of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from lobandits.errors import LobError
from lobandits.experiments.parts import Measurement, Part, Simulation
from lobandits.experiments.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lobandits.experiments.claims import Claim
    from lobandits.experiments.draw import Canvas

Size = Literal["tiny", "default", "full"]
"""tiny is for tests: the ends of every sweep, few users, short horizons."""
Key = tuple[tuple[str, Any], ...]
"""The place of a part in an experiment: the value on each axis."""
TINY_USERS = 16
TINY = 20
"""By how much horizons are cut at the size "tiny"."""

PAPER_POLICIES = ("ucb", "ts", "mucb", "mts", "lobucb", "lobts")
FIRST = "mts(best_arms_first=True)"
"""mTS that plays each state's best arm once before it samples states."""
NARROW = "lobucb(radius=2.0)"
"""lobUCB with the radius of UCB, c sqrt(2 log t / N); its listing has 4."""
SYNTHETIC_POLICIES = (*PAPER_POLICIES, FIRST, NARROW, "toparms")
SIGMAS = (1.0, 5.0)
"""The text has 1, the appendix 5."""
TENTH = ("lobucb(refresh_every=10)", "lobts(project_every=10)")
"""As in the paper, latent-order policies project every tenth round on MovieLens."""
NARROW_TENTH = "lobucb(refresh_every=10, radius=2.0)"
MOVIELENS_POLICIES = (
    *("ucb", "ts", "mucb", "mts", *TENTH),
    *(FIRST, NARROW_TENTH, "lobucb", "lobts"),
)
"""The paper's, then those that show what an option changes."""


class Found(Mapping[Key, Record]):
    """The records of an experiment, by key.

    ``data`` is the edition of the ratings, if there are any, and ``title`` tells more of them.
    """

    def __init__(self, records: Mapping[Key, Record], data: str = "", title: str = "") -> None:
        self._records = dict(records)
        self.data = data
        self.title = title or data

    def at(self, **values: Any) -> Record:
        """Return the record at these values of the axes."""
        wanted = set(values.items())
        found = [record for key, record in self._records.items() if wanted <= set(key)]
        if not found:
            raise LobError(f"no part at {', '.join(f'{k} = {v}' for k, v in values.items())}")
        return found[0]

    def axis(self, name: str) -> list[Any]:
        """Return the values on the axis of that name, in order."""
        return list(dict.fromkeys(dict(key)[name] for key in self._records if name in dict(key)))

    def along(self, axis: str, **values: Any) -> dict[Any, Record]:
        """Return the records by their value on one axis, at these values of the others."""
        return {value: self.at(**{axis: value}, **values) for value in self.axis(axis)}

    def __getitem__(self, key: Key) -> Record:
        return self._records[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


@dataclass(frozen=True)
class Sweep:
    """Simulations over the product of axes.

    Parameters
    ----------
    environment
        "synthetic" or "movielens".
    axes
        Values of each swept parameter of the environment; where sizes differ, by size.
    fixed
        The environment's other parameters.
    policies, horizon
        What is played, and for how long.
    users
        By size: how many users.
    """

    environment: str
    axes: Mapping[str, Sequence[Any] | Mapping[str, Sequence[Any]]]
    users: Mapping[str, int]
    horizon: int
    policies: tuple[str, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def parts(self, size: Size, seed: int) -> dict[Key, Part]:
        """Return the simulations, by their values on the axes."""
        tiny = size == "tiny"
        ranges = {axis: _values(values, size) for axis, values in self.axes.items()}
        found: dict[Key, Part] = {}
        for values in product(*ranges.values()):
            key = tuple(zip(ranges, values, strict=True))
            found[key] = Simulation(
                environment=self.environment,
                options=tuple(sorted((dict(self.fixed) | dict(key)).items())),
                policies=self.policies,
                horizon=self.horizon // TINY if tiny else self.horizon,
                n_users=TINY_USERS if tiny else self.users[size],
                seed=seed,
            )
        return found


@dataclass(frozen=True)
class Survey:
    """One measurement: a function, and its options by size; the seed is added.

    With ``on_ratings`` the function is also given the ratings, as its first argument.
    """

    name: str
    measure: Callable[..., Mapping[str, Any]]
    options: Mapping[str, Mapping[str, Any]]
    on_ratings: bool = False

    def parts(self, size: Size, seed: int) -> dict[Key, Part]:
        """Return the measurement."""
        options = dict(self.options[size]) | {"seed": seed}
        part = Measurement(self.measure, tuple(sorted(options.items())), self.on_ratings)
        return {(("measure", self.name),): part}


@dataclass(frozen=True)
class Experiment:
    """A figure, table or number of the paper.

    Attributes
    ----------
    name
        How it is called on the command line.
    place
        Where it stands in the paper.
    title, note
        What it shows, and how to read it.
    work
        Sweeps and surveys; what is run.
    draw
        Makes the figure on a canvas; None for a table.
    claims
        What the paper says of it.
    value
        What the numbers are, with their unit.
    on_ratings
        Whether the numbers depend on the ratings at hand.
    timed
        Whether the numbers are times, which no seed can repeat.
    """

    name: str
    place: str
    title: str
    work: tuple[Sweep | Survey, ...]
    draw: "Callable[[Found, Canvas], Figure] | None" = None
    claims: "tuple[Claim, ...]" = ()
    note: str = ""
    value: str = "cumulative regret"
    on_ratings: bool = False
    timed: bool = False

    def parts(self, size: Size, seed: int) -> dict[Key, Part]:
        """Return all parts, by key."""
        return {key: part for work in self.work for key, part in work.parts(size, seed).items()}


def _values(values: Sequence[Any] | Mapping[str, Sequence[Any]], size: Size) -> Sequence[Any]:
    if isinstance(values, Mapping):
        values = values["default" if size == "tiny" else size]
    return values if size != "tiny" or len(values) < 3 else (values[0], values[-1])
