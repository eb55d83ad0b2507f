"""What callers ask for, checked before anything is written."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lobandits.errors import LobInputError
from lobandits.policies.rewards import LARGEST, is_reward
from lobandits.service.checks import check_allowed, check_context, check_user
from lobandits.service.decision import check_decision, check_id
from lobandits.service.errors import InvalidRequestError, UnknownDecisionError


class Request(NamedTuple):
    """A request for a decision."""

    user: str
    allowed: tuple[str, ...] | None
    id: bytes | None
    context: str | None


class Reward(NamedTuple):
    """A reward of a decision, None if no decision can have the id that was given."""

    decision: bytes | None
    reward: float


def read_requests(requests: Iterable[Any]) -> list[Request]:
    """Return requests: each a user's name, or a mapping with user, allowed, id and context."""
    return [_request(request) for request in _listed("requests", requests)]


def read_rewards(rewards: Iterable[Any]) -> list[Reward]:
    """Return rewards: each a pair (decision, reward), or a mapping with both."""
    return [_reward(reward) for reward in _listed("rewards", rewards)]


def _request(request: Any) -> Request:
    if isinstance(request, str):
        return Request(check_user(request), None, None, None)
    user, allowed, key, context = _fields(request, "request", "user", "allowed", "id", "context")
    return Request(
        user=check_user(user),
        allowed=check_allowed(allowed),
        id=None if key is None else check_id(key),
        context=check_context(context),
    )


def _reward(reward: Any) -> Reward:
    if isinstance(reward, tuple) and len(reward) == 2:
        decision, value = reward
    else:
        decision, value = _fields(reward, "reward", "decision", "reward")
    number = check_reward(value)
    try:
        return Reward(check_decision(decision), number)
    except UnknownDecisionError:
        return Reward(None, number)


def _fields(item: Any, noun: str, *names: str) -> list[Any]:
    if not isinstance(item, dict | Mapping) or not item.keys() <= set(names):
        raise LobInputError(f"a {noun} must have the fields {', '.join(names)}, got {item!r:.80}")
    return [item.get(name) for name in names]


def _listed(noun: str, items: Any) -> list[Any]:
    if isinstance(items, str | bytes | dict) or not isinstance(items, Iterable):
        raise LobInputError(f"{noun} must be a list, got {type(items).__name__}")
    return list(items)


def check_reward(reward: Any) -> float:
    """Return a reward as a float, if it is one that policies take."""
    if isinstance(reward, bool) or not is_reward(reward):
        got = reward if isinstance(reward, float) else type(reward).__name__
        raise InvalidRequestError(
            "reward", f"a reward must be a finite number of at most {LARGEST:g}, got {got}"
        )
    return float(reward)
