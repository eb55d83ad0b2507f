"""Experiments as data: what is simulated, how it is drawn, and what the paper says of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from lobandits._checks import FloatArray
from lobandits.errors import LobError
from lobandits.experiments.parts import Measurement, Part, Simulation
from lobandits.experiments.record import Record

if TYPE_CHECKING:
    from lobandits.experiments.claims import Claim
    from lobandits.experiments.draw import Canvas

Size = Literal["tiny", "default", "full"]
"""tiny is for tests: the ends of every sweep, few users, short horizons."""
Key = tuple[tuple[str, Any], ...]
"""The place of a part in an experiment: the value on each axis."""
TINY_USERS = 16
TINY = 20
"""By how much horizons are cut at the size "tiny"."""
AXES = {"n_states": "m"}
"""Axes that have another name in tables."""

PAPER_POLICIES = ("ucb", "ts", "mucb", "mts", "lobucb", "lobts")
FIRST = "mts(best_arms_first=True)"
"""mTS that plays each state's best arm once before it samples states."""
NARROW = "lobucb(radius=2.0)"
"""lobUCB with the radius of UCB, c sqrt(2 log t / N); its listing has 4."""
TENTH = ("lobucb(refresh_every=10)", "lobts(project_every=10)")
"""As in the paper, latent-order policies project every tenth round on MovieLens."""
NARROW_TENTH = "lobucb(refresh_every=10, radius=2.0)"
SIGMAS = (1.0, 5.0)
"""Of the synthetic task: the text has 1, the appendix 5."""
TITLES = {
    "ucb": "UCB",
    "ts": "TS",
    "mucb": "mUCB",
    "mts": "mTS",
    "lobucb": "lobUCB",
    "lobts": "lobTS",
    "toparms": "top-arms UCB",
    TENTH[0]: "lobUCB",
    TENTH[1]: "lobTS",
    FIRST: "mTS, best first",
    NARROW: "lobUCB, narrow",
    NARROW_TENTH: "lobUCB, narrow",
}
"""How policies are called in figures; on MovieLens all project every tenth round."""


def policy_title(label: str) -> str:
    """Return how a policy is called in figures and tables."""
    return TITLES.get(label, label)


class Found(dict[Key, Record]):
    """The records of an experiment, by key.

    ``data`` is the edition of the ratings, if there are any, and ``title`` tells more of them.
    """

    def __init__(self, records: Mapping[Key, Record], data: str = "", title: str = "") -> None:
        super().__init__(records)
        self.data = data
        self.title = title

    def at(self, **values: Any) -> Record:
        """Return the record at these values of the axes."""
        for key, record in self.items():
            if values.items() <= dict(key).items():
                return record
        raise LobError(f"no part at {', '.join(f'{k} = {v}' for k, v in values.items())}")

    def axis(self, name: str) -> list[Any]:
        """Return the values on the axis of that name, in order."""
        return list(dict.fromkeys(dict(key)[name] for key in self if name in dict(key)))

    def along(self, axis: str, **values: Any) -> dict[Any, Record]:
        """Return the records by their value on one axis, at these values of the others."""
        return {value: self.at(**{axis: value}, **values) for value in self.axis(axis)}


@dataclass(frozen=True)
class Sweep:
    """Simulations of an environment, "synthetic" or "movielens", over the product of axes.

    ``axes`` has the values of each swept parameter of the environment, where sizes differ by
    size; ``fixed`` has its other parameters. ``users`` is by size, too.
    """

    environment: str
    axes: Mapping[str, Sequence[Any] | Mapping[str, Sequence[Any]]]
    users: Mapping[str, int]
    horizon: int
    policies: tuple[str, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def on_ratings(self) -> bool:
        """Whether the simulated users come from the ratings."""
        return self.environment == "movielens"

    def parts(self, size: Size, seed: int) -> dict[Key, Part]:
        """Return the simulations, by their values on the axes."""
        tiny = size == "tiny"
        ranges = {axis: _values(values, size) for axis, values in self.axes.items()}
        keys = [tuple(zip(ranges, v, strict=True)) for v in product(*ranges.values())]
        return {
            key: Simulation(
                environment=self.environment,
                options=dict(sorted({**self.fixed, **dict(key)}.items())),
                policies=self.policies,
                horizon=self.horizon // TINY if tiny else self.horizon,
                n_users=TINY_USERS if tiny else self.users[size],
                seed=seed,
            )
            for key in keys
        }


def _values(values: Sequence[Any] | Mapping[str, Sequence[Any]], size: Size) -> Sequence[Any]:
    if isinstance(values, Mapping):
        values = values["default" if size == "tiny" else size]
    return values if size != "tiny" or len(values) < 3 else (values[0], values[-1])


@dataclass(frozen=True)
class Survey:
    """One measurement: a function, and its options by size; the seed is added.

    With ``on_ratings`` the function is also given the ratings, as its first argument.
    """

    name: str
    measure: Callable[..., Mapping[str, FloatArray]]
    options: Mapping[str, Mapping[str, Any]]
    on_ratings: bool = False

    def parts(self, size: Size, seed: int) -> dict[Key, Part]:
        """Return the measurement."""
        options = dict(sorted({**self.options[size], "seed": seed}.items()))
        return {(("measure", self.name),): Measurement(self.measure, options, self.on_ratings)}


@dataclass(frozen=True)
class Experiment:
    """A figure, table or number of the paper, which stands at ``place``.

    ``work`` is what is run, ``value`` what the numbers are, with their unit; if they are ``timed``
    no seed can repeat them. ``draw`` makes the figure on a canvas; a table has None.
    """

    name: str
    place: str
    title: str
    work: tuple[Sweep | Survey, ...] = ()
    draw: "Callable[[Found, Canvas], None] | None" = None
    claims: "tuple[Claim, ...]" = ()
    note: str = ""
    value: str = "cumulative regret"
    timed: bool = False

    @property
    def on_ratings(self) -> bool:
        """Whether the numbers depend on the ratings at hand."""
        return any(work.on_ratings for work in self.work)

    def parts(self, size: Size, seed: int) -> dict[Key, Part]:
        """Return all parts, by key."""
        return {key: part for work in self.work for key, part in work.parts(size, seed).items()}
