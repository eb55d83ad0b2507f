"""Experiments as data: what is simulated, on which ratings, how it is drawn, what is claimed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lobandits._checks import FloatArray
from lobandits.errors import LobError
from lobandits.experiments.parts import Measurement, Part, Record, Simulation

if TYPE_CHECKING:
    from lobandits.experiments.claims import Claim
    from lobandits.experiments.draw import Canvas
    from lobandits.simulation.movielens import MovieLens

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
PACED = {"lobucb": "lobucb(refresh_every={})", "lobts": "lobts(project_every={})"}
"""Policies that may project every so many rounds only."""
TENTH = (PACED["lobucb"].format(10), PACED["lobts"].format(10))
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
GENERATED = "generated data"
GENERATED_OPTIONS: dict[str, Any] = {
    "n_users": 1000,
    "n_arms": 19,
    "n_states": 60,
    "ratings_per_user": 400,
}
PAPER_FILTER, SMALL_FILTER = (200, 200), (20, 100)
"""Least ratings of a movie, and of a user: the paper's, and those of a small edition."""
SMALL = 1_000_000
"""An edition with fewer ratings is small."""


def policy_title(label: str) -> str:
    """Return how a policy is called in figures and tables."""
    return TITLES.get(label, label)


def lazy(policy: str, every: int) -> str:
    """Return the policy that projects every so many rounds, if it projects at all."""
    return PACED[policy].format(every) if policy in PACED and every > 1 else policy


class RatingData:
    """Ratings that are read, or made, when a part first asks for them.

    Without the ``path`` of a MovieLens edition they are generated. ``seed`` names those, the genres
    of movies that have several, and the clustering.
    """

    def __init__(self, path: Path | None = None, seed: int = 0) -> None:
        self.path = path
        self.seed = seed
        self._environments: dict[int, MovieLens] = {}

    @cached_property
    def key(self) -> dict[str, Any]:
        """What decides the ratings, without reading them: sizes of files, and the filters."""
        if self.path is None:
            return GENERATED_OPTIONS | {"seed": self.seed}
        files = sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]
        sizes = {file.name: file.stat().st_size for file in files if file.is_file()}
        filters = {"paper": PAPER_FILTER, "small": SMALL_FILTER, "small below": SMALL}
        return {"bytes": sizes, "filters": filters, "seed": self.seed}

    @cached_property
    def ratings(self) -> Any:
        """The ratings themselves."""
        from lobandits.learning import load_movielens, make_ratings

        if self.path is not None:
            return load_movielens(self.path)
        return make_ratings(**GENERATED_OPTIONS, seed=self.seed)

    @cached_property
    def filters(self) -> tuple[int, int]:
        """Least ratings of a movie, and of a user."""
        large = self.path is not None and self.ratings.n_ratings >= SMALL
        return PAPER_FILTER if large else SMALL_FILTER

    def environment(self, n_states: int, **options: Any) -> "MovieLens":
        """Return the environment with so many states; each number is clustered once."""
        from lobandits.simulation.movielens import MovieLens

        known = self._environments
        if not known:
            movies, users = self.filters
            known[n_states] = MovieLens(
                self.ratings,
                n_states=n_states,
                min_movie_ratings=movies,
                min_user_ratings=users,
                seed=self.seed,
                progress=False,
            )
        elif n_states not in known:
            known[n_states] = next(iter(known.values())).replace(n_states=n_states)
        return known[n_states].replace(**options)

    def facts(self) -> dict[str, Any]:
        """Return what the report says of the ratings."""
        env = next(iter(self._environments.values()), None) or self.environment(n_states=2)
        facts = {
            "data": GENERATED if self.path is None else str(self.ratings.edition),
            "users": env.n_users,
            "genres": env.n_arms,
            "ratings": int(env.table.n_rewards),
            "imputed share of genre means": round(env.imputed_share, 4),
        }
        if self.path is not None:
            facts["least ratings of a movie"], facts["least ratings of a user"] = self.filters
        return facts


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

    def along(self, axis: str, **values: Any) -> dict[Any, Record]:
        """Return the records by their value on one axis, at these values of the others."""
        found = dict.fromkeys(dict(key)[axis] for key in self if axis in dict(key))
        return {value: self.at(**{axis: value}, **values) for value in found}


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
