"""All policies by name, and Agent: one of them for one user, by the names of arms."""

import ast
import json
import math
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import generator, one_of
from lobandits._files import read_json, write_text
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.orders.arms import arm_index
from lobandits.policies.base import Explanation, Policy
from lobandits.policies.lobids import LobIDS
from lobandits.policies.lobimed import LobIMED
from lobandits.policies.lobts import LobTS
from lobandits.policies.lobucb import LobUCB
from lobandits.policies.mts import MTS
from lobandits.policies.mucb import MUCB
from lobandits.policies.state import LARGEST, State
from lobandits.policies.ts import TS
from lobandits.policies.ucb import UCB, TopArmsUCB

_CLASSES: tuple[type[Policy], ...]
_CLASSES = (UCB, TS, MUCB, MTS, LobUCB, LobTS, TopArmsUCB, LobIMED, LobIDS)
POLICIES: Mapping[str, type[Policy]] = MappingProxyType({cls.name: cls for cls in _CLASSES})
"""The class of every policy, by its name."""


class ProblemLike(Protocol):
    """What `make_policy` reads from problems."""

    @property
    def n_arms(self) -> int:
        """Number of arms."""

    @property
    def sigma(self) -> float:
        """Standard deviation of rewards."""

    @property
    def orders(self) -> LatentOrders | UserOrders:
        """Orders of the states."""

    @property
    def state_means(self) -> ArrayLike:
        """Means of the states."""


def make_policy(
    name: str, problems: ProblemLike, horizon: int | None = None, **options: Any
) -> Policy:
    """Return a policy that knows what it may know of ``problems``.

    Parameters
    ----------
    name
        A key of `POLICIES`, perhaps with options in brackets: ``"lobts(project_every=10)"``.
    problems
        Where its orders, means, sigma and number of arms come from.
    horizon
        Number of rounds; only mUCB needs it.
    options
        Any parameter of the policy.

    Examples
    --------
    >>> import lobandits as lob
    >>> problems = lob.Synthetic(n_arms=5, n_states=4).sample(10, seed=0)
    >>> make_policy("ucb", problems)
    UCB(n_arms=5, sigma=1.0)
    """
    name, written = parse_name(name)
    options = written | options
    cls = POLICIES[name]
    parameters = list(cls._fields())
    for option in options:
        one_of(f"option of {name}", option, parameters)
    known = {
        "horizon": horizon,
        "arms": problems.orders.arms,
        "n_arms": problems.n_arms,
        "sigma": problems.sigma,
        "orders": problems.orders,
        "state_means": problems.state_means,
    }
    values = {key: known[key] for key in parameters if key in known} | options
    if values.get("horizon", 1) is None:
        raise LobInputError(f"{name} needs the horizon: make_policy({name!r}, problems, horizon=T)")
    return cls(**values)


def parse_name(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"lobts(project_every=10)"`` into a policy's name and its options."""
    name, bracket, inside = text.partition("(")
    one_of("policy", name, list(POLICIES))
    if not bracket:
        return name, {}
    try:
        call = ast.parse(f"options({inside}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(not k.arg for k in call.keywords):
            raise ValueError
        return name, {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        raise LobInputError(
            f"cannot read the options in {text!r}; write them like {name}(option=1)"
        ) from None


def policy_from_dict(data: Mapping[str, Any]) -> Policy:
    """Return the policy that `Policy.to_dict` described."""
    if not isinstance(data, Mapping) or "policy" not in data:
        raise LobInputError("a stored policy needs the field 'policy', its name")
    return POLICIES[one_of("policy", data["policy"], list(POLICIES))].from_dict(data)


FORMAT = "lobandits.agent"
VERSION = 1
FIELDS = ("format", "version", "policy", "state", "random")
GENERATORS = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")
POSITIONS = {"buffer_pos": 4, "pos": 624}  # in the buffers of Philox and MT19937, at most


class Agent:
    """One user's policy, state and random numbers.

    Parameters
    ----------
    policy
        Any policy of `POLICIES`.
    seed
        A seed, or a generator that the agent draws from.

    Examples
    --------
    >>> from lobandits.policies import UCB
    >>> agent = Agent(UCB(2, sigma=1.0, arms=("tea", "coffee")), seed=0)
    >>> agent.record("tea", 0.3)
    >>> agent.choose()
    'coffee'
    """

    def __init__(self, policy: Policy, seed: np.random.Generator | int = 0) -> None:
        if not isinstance(policy, Policy):
            raise LobInputError(f"an agent needs a policy of rewards, got {policy!r}")
        if policy.n_users not in (None, 1):
            raise LobInputError(
                f"an agent is one user, but the policy has parts for {policy.n_users}; "
                "take(user) gives the policy of one"
            )
        self.policy = policy
        self.state = policy.start()
        self.rng = generator(seed)
        self._index = {name: i for i, name in enumerate(policy.arms)}
        self._user = np.zeros(1, np.int64)
        self._arm = np.zeros(1, np.int64)
        self._reward = np.zeros(1)

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms."""
        return self.policy.arms

    def choose(self) -> str:
        """Return the arm to play next."""
        policy = self.policy
        noise = policy.draw(self.rng, (1,))
        return policy.arms[policy.decide(self.state, noise).item()]

    def record(self, arm: str | int, reward: float) -> None:
        """Add the reward of an arm, given by its name (or number)."""
        index = self._index.get(arm) if isinstance(arm, str) else None
        self._arm[0] = arm_index(self.arms, arm) if index is None else index
        try:
            fits = math.fabs(reward) <= LARGEST
        except (OverflowError, TypeError, ValueError):
            fits = False
        if not fits:
            raise LobInputError(
                f"reward is {reward!r}; it must be a finite number, at most {LARGEST:g}"
            )
        self._reward[0] = reward
        self.policy.absorb(self.state, self._user, self._arm, self._reward)

    def probabilities(self) -> dict[str, float]:
        """Return the chance of each arm to be the next choice."""
        odds = self.policy.probabilities(self.state)[0].tolist()
        return dict(zip(self.arms, odds, strict=True))

    def explain(self) -> Explanation:
        """Return what speaks for each arm."""
        return self.policy.explain(self.state)

    def __repr__(self) -> str:
        return f"Agent({self.policy!r}, plays={int(self.state.plays[0])})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a JSON file; a crash leaves the old file or the new one."""
        random = self.rng.bit_generator.state
        parts = (FORMAT, VERSION, self.policy.to_dict(), self.state.to_dict(), random)
        lines = [
            f'  "{field}": {json.dumps(_plain(part), ensure_ascii=False)}'
            for field, part in zip(FIELDS, parts, strict=True)
        ]
        write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Agent":
        """Return the agent saved in a file; it continues with the choices it would have made."""
        policy, state, rng = _read(path)
        agent = cls(policy, rng)
        agent.state = state
        return agent


def _read(path: str | os.PathLike[str]) -> tuple[Policy, State, np.random.Generator]:
    """Return a saved agent's parts, or name the file and the field that is wrong."""
    data = read_json(path)
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise LobInputError(f"{path} is no saved agent: it lacks the format {FORMAT!r}")
    missing = [field for field in FIELDS if field not in data]
    if missing:
        raise LobInputError(f"{path}: the field {missing[0]!r} is missing")
    if data["version"] != VERSION:
        raise LobInputError(
            f"{path}: version is {data['version']!r}, but this lobandits reads version {VERSION}"
        )
    field = "policy"
    try:
        policy = policy_from_dict(data["policy"])
        field = "state"
        state = policy.restore(data["state"])
        if state.n_users != 1:
            raise LobInputError(f"an agent is one user, got {state.n_users}")
        field = "random"
        return policy, state, _generator(data["random"])
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise LobInputError(f"{path}: the field {field!r} is wrong: {error}") from error


def _generator(state: Mapping[str, Any]) -> np.random.Generator:
    kind = one_of("generator", state["bit_generator"], GENERATORS)
    bits: np.random.BitGenerator = getattr(np.random, kind)()
    bits.state = _arrays(state)
    known = {**bits.state, **bits.state["state"]}
    for name, most in POSITIONS.items():  # NumPy does not check these, and reads what is there
        if not 0 <= known.get(name, 0) <= most:
            raise LobInputError(f"{name} is {known[name]}; it must lie between 0 and {most}")
    return np.random.Generator(bits)


def _arrays(value: Any) -> Any:
    """Turn the lists inside a generator's state back into arrays."""
    if isinstance(value, Mapping):
        return {key: _arrays(inside) for key, inside in value.items()}
    return np.array(value, np.uint64) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Turn arrays into lists, and numbers that JSON lacks (inf, nan) into text."""
    if isinstance(value, Mapping):
        return {key: _plain(inside) for key, inside in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(inside) for inside in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
