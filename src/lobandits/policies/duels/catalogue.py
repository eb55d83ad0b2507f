"""The policies of duels by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lobandits._checks import one_of
from lobandits.policies.duels.dts import DoubleTS
from lobandits.policies.duels.duel_policy import DuelPolicy
from lobandits.policies.duels.relative import RelativeLobTS
from lobandits.policies.registry import ProblemLike, known_of, split_options

DUEL_POLICIES: Mapping[str, type[DuelPolicy]] = MappingProxyType(
    {cls.name: cls for cls in (RelativeLobTS, DoubleTS)}
)
"""The class of every policy of duels, by its name."""


def make_duel_policy(name: str, problems: ProblemLike, **options: Any) -> DuelPolicy:
    """Return a policy of duels that knows what it may know of ``problems``.

    ``name`` is a key of `DUEL_POLICIES`, perhaps with options: ``"relative(rho=0.1)"``.
    """
    name, written = split_options(name, list(DUEL_POLICIES))
    cls = DUEL_POLICIES[name]
    parameters = list(cls._fields())
    for option in options | written:
        one_of(f"option of {name}", option, parameters)
    return cls(**known_of(problems, parameters) | written | options)
