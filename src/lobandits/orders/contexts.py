"""Contexts: an arm in a context is an arm of its own, named ``"context: arm"``.

A decision in a context chooses among that context's arms; the rewards of all contexts speak for
the state of a user. So contexts are choice sets, and policies need not know of them.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from lobandits.basics.checks import IntArray, closest
from lobandits.errors import LobInputError
from lobandits.orders.arms import Arm, arm_indices

BETWEEN = ": "


def name_in_context(context: str, arm: str) -> str:
    """Return the name of an arm in a context.

    Examples
    --------
    >>> name_in_context("morning", "tea")
    'morning: tea'
    """
    return f"{checked_context(context)}{BETWEEN}{arm}"


def checked_context(context: str) -> str:
    """Return a context's name, if arms can be named after it."""
    if not isinstance(context, str) or not context.strip():
        raise LobInputError(f"a context must be text that is not blank, got {context!r}")
    if BETWEEN in context:
        raise LobInputError(
            f"the context {context!r} must not contain {BETWEEN!r}, which stands between a context "
            "and its arm"
        )
    return context


def contexts_of(arms: Sequence[str]) -> dict[str, list[int]]:
    """Return the contexts that arms are named after, each with its arms' numbers."""
    found: dict[str, list[int]] = {}
    for number, name in enumerate(arms):
        context, between, _ = name.partition(BETWEEN)
        if between:
            found.setdefault(context, []).append(number)
    return found


def context_numbers(arms: Sequence[str]) -> IntArray | None:
    """Return the number of each arm's context, (k,); None unless every arm is in one of several."""
    inside = arms_by_context(arms)
    if len(inside) < 2:
        return None
    numbers = np.empty(len(arms), np.int64)
    for number, some in enumerate(inside):
        numbers[some] = number
    return numbers


def arms_by_context(arms: Sequence[str]) -> list[list[int]]:
    """Return the arms' numbers by context; all in one list unless every arm is in a context."""
    inside = list(contexts_of(arms).values())
    return inside if sum(map(len, inside)) == len(arms) else [list(range(len(arms)))]


def arms_in_context(arms: Sequence[str], context: str) -> list[int]:
    """Return the numbers of a context's arms, or say which contexts there are."""
    found = contexts_of(arms)
    if not found:
        raise LobInputError(
            f"there is no context {context!r}: no arm is named {'context' + BETWEEN + 'arm'!r}"
        )
    if checked_context(context) not in found:
        raise LobInputError(
            f"unknown context {context!r}; {closest(context, list(found))}"
            f"The contexts are {', '.join(found)}"
        )
    return found[context]


def without_context(name: str, context: str) -> str:
    """Return the name that an arm has within its context."""
    return name.removeprefix(context + BETWEEN)


def places(arms: Sequence[str], allowed: Iterable[Arm] | None, context: str | None) -> list[int]:
    """Return the numbers of the allowed arms; in a context, these are named without it."""
    if context is None:
        return list(range(len(arms))) if allowed is None else arm_indices(arms, allowed)
    inside = arms_in_context(arms, context)
    if allowed is None:
        return inside
    names = [without_context(arms[number], context) for number in inside]
    return [inside[place] for place in arm_indices(names, allowed)]
