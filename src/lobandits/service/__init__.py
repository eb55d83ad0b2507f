"""Decisions in production: a service over a durable store.

`DecisionService` is the whole interface; HTTP only translates it.

====================================  ==========================================================
``decide(user, allowed, id)``         a `Decision` (id, arm, probability, model)
``decide_many(requests)``             the same for many, in one transaction or none
``record(decision, reward)``          "recorded" or "already recorded"
``record_many(rewards)``              a status for each: also "unknown decision", "conflict",
                                      "expired"
``user(user)``, ``explain(user)``     plain data; `UnknownUserError` if there is no such user
``forget(user)``                      number of decisions erased
``log(after, page)``                  iterator of `LogRow`
``put_model(policy)``, ``reload()``   name of the model
``activity(minutes, sample)``         plain data for a dashboard
``expire()``                          number of decisions given the default reward; call it often
``ready()``, ``close()``              whether the store answers; the end
``model``, ``policy``                 what decides now
``run(calls)``                        many `DecisionCall` and `RewardCall` in one transaction
====================================  ==========================================================

All methods may be called from many threads. A server with an event loop collects the calls of
its clients: ``call = DecisionCall([{"user": "ada"}])`` checks at once, ``service.run([call, ...])``
in a worker thread never raises, and ``call.result()`` returns a list or raises. Errors are
subclasses of `LobError` with a ``code``; see `lobandits.service.errors`.
"""

try:
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise ImportError("a service needs more packages: pip install 'lobandits[service]'") from error

from lobandits.service.calls import Decision, DecisionCall, RewardCall, new_id
from lobandits.service.decisions import DecisionService
from lobandits.service.export import LogRow
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
