"""Policy: a frozen value that decides for users' states; all policies have this interface."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    generator,
    one_of,
    positive,
    read_only,
    whole,
)
from lobandits.basics.frozen import Frozen
from lobandits.beliefs.features import Table
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_names
from lobandits.policies.explanation import Details, Explanation, explanation
from lobandits.policies.registry import register
from lobandits.rules.choices import checked_allowed, draw_arms, normalised
from lobandits.statistics.fading import TRUST, FadingState
from lobandits.statistics.rewards import add_rewards, checked_rewards, checked_times
from lobandits.statistics.state import S, State, check_state, empty_state, fill, stored_users

ALWAYS, ON_CHANGE = "always", "on_change"
Style = tuple[str, str, str]  # of a line: colour, "solid" or "dashed", marker


@dataclass(frozen=True)
class Policy(Frozen, ABC, Generic[S]):
    """Decides which arm each user plays, from the rewards recorded so far.

    A subclass is a frozen dataclass with a ``name`` and one method, `odds`; defining it makes it
    known to `POLICIES`, and so to simulations, agents, commands and the service. Where it gains
    from it, it says more: `decide` and `draw` (choices without the odds of all arms), `absorb`
    and ``state_type`` (more than counts and sums), `details` and `state_posterior` (for people).

    Attributes
    ----------
    name : str
        The key of this policy in `POLICIES`.
    label : str
        Its name in figures and tables; by default the name of the class.
    n_arms : int
        Number of arms.
    arms : tuple of str
        Their names.
    half_life : float or None
        Every policy takes it, by name, that decides from counts and sums: a reward counts half
        after so many further plays of its user. By default nothing fades.
    forget : str
        With a half-life: "on_change", as long as recent rewards do not speak for a change of the
        user, all count alike; "always", they fade whatever they say.

    Examples
    --------
    >>> from lobandits.policies import UCB
    >>> policy = UCB(n_arms=3, sigma=1.0)
    >>> state = policy.start(n_users=2)
    >>> policy.record(state, arms=[0, 2], rewards=[1.5, 0.5])
    >>> policy.probabilities(state)
    array([[0. , 0.5, 0.5],
           [0.5, 0.5, 0. ]])
    >>> policy.probabilities(state, allowed=[True, True, False])
    array([[0. , 1. , 0. ],
           [0.5, 0.5, 0. ]])
    """

    name: ClassVar[str]
    label: ClassVar[str]
    style: ClassVar[Style | None] = None
    state_type: ClassVar[type[Any]] = State
    half_life: float | None = field(default=None, kw_only=True, metadata={"rare": True})
    forget: str = field(default=ON_CHANGE, kw_only=True, metadata={"rare": True})

    if TYPE_CHECKING:  # no fields here: a policy has them as fields, in its own order

        @property
        def n_arms(self) -> int:
            """Number of arms."""

        @property
        def arms(self) -> tuple[str, ...]:
            """Their names."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Make a class that has a name of its own known to `POLICIES`."""
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            cls.label = vars(cls).get("label", cls.__name__)
            register(cls)

    def __post_init__(self) -> None:
        """Check what all policies have; give arms their numbers as names, where they have none."""
        one_of("forget", self.forget, (ON_CHANGE, ALWAYS))
        if self.half_life is not None:
            positive("half_life", self.half_life)
            if type(self).absorb is not Policy.absorb:
                raise LobInputError(
                    f"half_life is {self.half_life}, but {self.name} remembers more of rewards "
                    "than counts and sums, which alone fade; leave it out"
                )
        if not hasattr(self, "n_arms"):
            raise LobInputError(
                f"{type(self).__name__} needs n_arms, its number of arms, as a field"
            )
        if not hasattr(self, "arms"):
            self._set(arms=arm_names(whole("n_arms", self.n_arms), None))

    # What a policy says -------------------------------------------------------------------------

    @abstractmethod
    def odds(self, state: S, allowed: BoolArray) -> FloatArray:
        """Return the odds of each arm, (n_users, n_arms): its chance, up to a factor per user.

        Unchecked. ``state`` is what is `seen` of the users, and may be brought up to date;
        ``allowed``, (1 or n_users, n_arms), tells which arms may be played: the odds of others are
        0, and their rewards count all the same.
        """

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return the random numbers of decisions: by default one uniform for each."""
        return rng.random(shape)

    def decide(self, state: S, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Return one arm for each user from the random numbers of `draw`, unchecked."""
        return draw_arms(self.odds(state, allowed), noise)

    def absorb(self, state: S, users: IntArray, arms: IntArray, rewards: FloatArray) -> None:
        """Add rewards to ``state``, unchecked; policies that remember more override this."""
        add_rewards(state.counts, state.sums, state.carries, users, arms, rewards)

    def details(self, state: S, allowed: BoolArray) -> Details:
        """Return the tables that explain the choice for the one user in ``state``."""
        return Details()

    def state_posterior(self, state: S) -> FloatArray | None:
        """Return the chance of each latent state, (n_users, n_states); None without states."""
        return None

    @property
    def counts_suffice(self) -> bool:
        """Whether decisions depend on counts and sums alone: only these must be stored."""
        return True

    # What its callers use -----------------------------------------------------------------------

    def choose(
        self, state: S, rng: np.random.Generator | int, allowed: ArrayLike | None = None
    ) -> IntArray:
        """Return one arm for each user, (n_users,).

        A batch draws the same random numbers as its users one after the other.

        Parameters
        ----------
        state
            What is known of the users.
        rng
            A generator, or a seed.
        allowed
            Which arms may be played now: bool (n_arms,), or (n_users, n_arms) where users differ;
            by default all. The rewards of the other arms count all the same.
        """
        sets = self._check(state, allowed)
        noise = self.draw(generator(rng), (state.n_users,))
        return self.decide(self.seen(state), noise, sets)

    def record(
        self,
        state: S,
        arms: ArrayLike,
        rewards: ArrayLike,
        users: ArrayLike | None = None,
        times: ArrayLike | None = None,
    ) -> None:
        """Add rewards to ``state``, in place; nothing is written if anything is refused.

        Parameters
        ----------
        state
            The state to change.
        arms, rewards
            Which arm was played, and its reward.
        users
            Whose rewards these are: by default one for each user, in order. Else any users, in
            any order, each as often as you like.
        times
            With a half-life: when each arm was chosen, on any clock, in any order; by default every
            reward is one play later than the one before.
        """
        self._check(state, None)
        given = checked_rewards(state.n_users, self.n_arms, arms, rewards, users)
        self.remember(state, *given, checked_times(times, len(given[0]), self.half_life))

    def remember(
        self,
        state: S,
        users: IntArray,
        arms: IntArray,
        rewards: FloatArray,
        times: FloatArray | None = None,
    ) -> None:
        """Add rewards to ``state``, unchecked."""
        if isinstance(state, FadingState):
            state.add(users, arms, rewards, times)
        else:
            self.absorb(state, users, arms, rewards)

    def seen(self, state: S) -> S:
        """Return what decisions see of a state: with a half-life, its rewards as they count now."""
        seen: Any = state.read(self.change_limit) if isinstance(state, FadingState) else state
        return seen  # type: ignore[no-any-return]

    def changed(self, state: S) -> BoolArray:
        """Tell which users have changed, (n_users,): of these, rewards fade."""
        if isinstance(state, FadingState):
            return state.changed(self.change_limit)
        return np.zeros(state.n_users, np.bool_)

    @property
    def change_limit(self) -> float:
        """How large a doubt must be before a user has changed; below 0: everybody has."""
        sigma = getattr(self, "sigma", None)
        return -1.0 if self.forget == ALWAYS or sigma is None else TRUST * float(sigma) ** 2

    def probabilities(self, state: S, allowed: ArrayLike | None = None) -> FloatArray:
        """Return the chance that `choose` picks each arm, (n_users, n_arms)."""
        sets = self._check(state, allowed)
        return normalised(self.odds(self.seen(state.copy()), sets))

    def explain(self, state: S, user: int = 0, allowed: ArrayLike | None = None) -> Explanation:
        """Return what speaks for each arm of one user: plays, means, bounds, probabilities."""
        return explanation(self, state, user, self._check(state, allowed))

    def start(self, n_users: int | None = None, features: Table | None = None) -> S:
        """Return the state of ``n_users`` users without plays (by default 1, or `n_users`).

        ``features`` say what is known of them: a data frame, a dict of columns, or a list of dicts,
        a row for each. Policies whose model has none take no notice.
        """
        default = self.n_users
        n = whole("n_users", (default or 1) if n_users is None else n_users)
        if default not in (None, n):
            raise LobInputError(f"n_users is {n}, but this policy has parts for {default} users")
        if self.half_life is None:
            state = self.new_state(n)
        else:
            fading: Any = empty_state(
                FadingState, n, arms=self.n_arms, columns=self.feature_columns
            )
            fading.half_lives[:] = self.half_life
            state = fading
        if features is not None:
            self.describe(state, features)
        return state

    def new_state(self, n_users: int) -> S:
        """Return an empty state without a half-life; policies with other axes override this."""
        state: S = empty_state(
            self.state_type, n_users, arms=self.n_arms, columns=self.feature_columns
        )
        return state

    @property
    def feature_columns(self) -> int:
        """How many numbers a state has of what is known of a user besides rewards."""
        return 0

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of what it looks at of a user besides rewards."""
        return ()

    def silent_features(self, features: Table) -> dict[str, int]:
        """Return how many values of each feature say nothing to it, for a metric."""
        return {}

    def describe(self, state: S, features: Table, users: ArrayLike | None = None) -> None:
        """Write what is known of users into ``state``, in place; see `start`.

        ``users`` says whose rows these are, by default everybody's in order. What was known before
        is forgotten.
        """

    def restore(self, data: Mapping[str, ArrayLike]) -> S:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = fill(self.start(stored_users(data)), data)
        return state.check() if isinstance(state, FadingState) else state

    @property
    def n_users(self) -> int | None:
        """Number of users that the policy is made for; None if all users share it."""
        return None

    def take(self, users: ArrayLike) -> Self:
        """Return the policy for some of its users; itself if all users share it."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return name and fields as plain data; `policy_from_dict` is the way back."""
        return {"policy": self.name} | self._plain()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the policy that `to_dict` described, or name the field that is wrong."""
        given = {name: value for name, value in data.items() if name != "policy"}
        return cls(**cls._decoded(given, cls.name))

    @cached_property
    def all_arms(self) -> BoolArray:
        """The choice set of all arms, (1, n_arms)."""
        return read_only(np.ones((1, self.n_arms), np.bool_))

    def _check(self, state: S, allowed: ArrayLike | None) -> BoolArray:
        """Return the choice sets, or say why the state or they do not fit."""
        check_state(state, self._empty, self)
        if allowed is None:
            return self.all_arms
        return checked_allowed(allowed, state.n_users, self.n_arms)

    @cached_property
    def _empty(self) -> S:
        """The state of nobody: its kind and shapes are those of every state of this policy."""
        nobody: S = self.start().take([])
        return nobody
