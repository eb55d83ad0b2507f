"""Decisions in production: on a store, over HTTP, and from a client elsewhere.

Names load on first use, so that the client needs httpx alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lobandits.service.calls import DecisionCall, RewardCall
    from lobandits.service.client import Client
    from lobandits.service.decision import Decision, new_id
    from lobandits.service.decision_service import DecisionService
    from lobandits.service.reports.log import LogRow
    from lobandits.service.store import Store, open_store

__all__ = [
    "Client",
    "Decision",
    "DecisionCall",
    "DecisionService",
    "LogRow",
    "RewardCall",
    "Store",
    "new_id",
    "open_store",
]

_MODULES = {
    "Client": "client",
    "Decision": "decision",
    "DecisionCall": "calls",
    "DecisionService": "decision_service",
    "LogRow": "reports.log",
    "RewardCall": "calls",
    "Store": "store",
    "new_id": "decision",
    "open_store": "store",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
