"""Latent order bandits: cold-start decisions from preference orders.

Names load on first use, so that ``import lobandits`` is quick and compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lobandits.errors import LobError, LobInputError, LobWarning

if TYPE_CHECKING:
    from lobandits.orders import LatentOrders, PartialOrder, UserOrders
    from lobandits.projection import project, projection_losses

__version__ = "0.1.0"

_HOMES = {
    "lobandits.orders": ("LatentOrders", "PartialOrder", "UserOrders"),
    "lobandits.projection": ("project", "projection_losses"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "LatentOrders",
    "LobError",
    "LobInputError",
    "LobWarning",
    "PartialOrder",
    "UserOrders",
    "project",
    "projection_losses",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'lobandits' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_HOME_OF))
