"""Decisions in production: a service over a durable store.

`DecisionService` is the whole interface, for many threads; HTTP only translates it. A server with
an event loop collects its clients' calls: ``DecisionCall(requests)`` checks at once,
``service.run(calls)`` in another thread never raises, and ``call.result()`` may.
"""

try:
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise ImportError("a service needs more packages: pip install 'lobandits[service]'") from error

from lobandits.service.calls import Decision, DecisionCall, RewardCall, new_id
from lobandits.service.decisions import DecisionService
from lobandits.service.reports import LogRow
from lobandits.service.store import Store, open_store

__all__ = [
    "Decision",
    "DecisionCall",
    "DecisionService",
    "LogRow",
    "RewardCall",
    "Store",
    "new_id",
    "open_store",
]
