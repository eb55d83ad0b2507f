"""A client with the methods of `DecisionService`, for a server elsewhere; it needs httpx alone."""

import json
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

try:
    import httpx
except ImportError as error:
    raise ImportError("the client needs httpx: pip install httpx") from error

from lobandits.errors import LobInputError
from lobandits.service.decision import Decision, new_id
from lobandits.service.errors import ServiceError, StoreUnavailableError, error_of

if TYPE_CHECKING:
    from lobandits.policies import Policy

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds


class Client:
    """Decisions from a server, with the methods and errors of `DecisionService`.

    A request that fails on its way, or that the server cannot take now, is sent again, after a
    pause that doubles. That is safe: the client names every decision itself, so that it is made
    once, and a reward counts once. Many threads may share a client.

    Parameters
    ----------
    url
        Where the server is, for example ``"http://127.0.0.1:8000"``.
    key
        The key, if the server has keys.
    timeout
        Seconds to wait for each answer.
    retries
        How often a request is sent again before the error is raised.
    problem
        The problem of all calls that name none; by default the server's own.

    Examples
    --------
    Use it as ``client.record(client.decide("ada").id, 4.5)``.

    >>> with Client("http://127.0.0.1:8000", key="k-1") as client:
    ...     print(client)
    Client('http://127.0.0.1:8000')
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        retries: int = 5,
        problem: str | None = None,
    ) -> None:
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise LobInputError(f"url must begin with http:// or https://, got {url!r}")
        if not isinstance(retries, int) or retries < 0:
            raise LobInputError(f"retries must be a whole number of at least 0, got {retries!r}")
        if not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
            raise LobInputError(f"timeout must be a positive number of seconds, got {timeout!r}")
        self.url = url.rstrip("/")
        self.retries = retries
        self.problem = problem
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(
            headers={"content-type": "application/json", **headers},
            timeout=timeout,
            # An idle connection is kept for less long than by the server.
            limits=httpx.Limits(max_connections=None, keepalive_expiry=30),
        )

    def decide(
        self,
        user: str,
        allowed: Iterable[str] | None = None,
        id: str | None = None,  # noqa: A002
        context: str | None = None,
        problem: str | None = None,
        features: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Return an arm for a user; see `DecisionService.decide`."""
        request = {"user": user, "allowed": allowed, "id": id, "context": context}
        named = self._named(request | {"problem": problem, "features": features})
        return Decision(**self._ask("POST", "/v1/decisions", named))

    def decide_many(self, requests: Iterable[str | Mapping[str, Any]]) -> list[Decision]:
        """Return a decision for each of up to 1,000 requests."""
        named = [self._named({"user": r} if isinstance(r, str | int) else r) for r in requests]
        answer = self._ask("POST", "/v1/decisions/batch", {"requests": named}) if named else {}
        return [Decision(**decision) for decision in answer.get("decisions", ())]

    def record(self, decision: str, reward: float) -> str:
        """Count the reward of a decision; see `DecisionService.record`."""
        report = {"decision": decision, "reward": reward}
        return str(self._ask("POST", "/v1/rewards", report)["status"])

    def record_many(self, rewards: Iterable[tuple[str, float] | Mapping[str, Any]]) -> list[str]:
        """Count up to 1,000 rewards; return the status of each."""
        reports = [
            dict(r) if isinstance(r, Mapping) else {"decision": r[0], "reward": r[1]}
            for r in rewards
        ]
        answer = self._ask("POST", "/v1/rewards/batch", {"rewards": reports}) if reports else {}
        return [result["status"] for result in answer.get("results", ())]

    def add_history(
        self, rewards: Iterable[Mapping[str, Any]], problem: str | None = None
    ) -> list[str]:
        """Count up to 1,000 rewards of the time before; see `DecisionService.add_history`."""
        rows = [dict(reward) for reward in rewards]
        path = self._path("/v1/history", problem)
        answer = self._ask("POST", path, {"rewards": rows}) if rows else {}
        return [result["status"] for result in answer.get("results", ())]

    def user(self, user: str, problem: str | None = None) -> dict[str, Any]:
        """Return a user's plays and mean reward of every arm."""
        known = self.explain(user, problem=problem)
        return {name: known[name] for name in ("user", "plays", "arms")}

    def explain(
        self, user: str, context: str | None = None, problem: str | None = None
    ) -> dict[str, Any]:
        """Return `user`, with the state posterior and what speaks for each arm, of a context's."""
        return self._ask("GET", self._path(_user_path(user), problem, context=context))

    def forget(self, user: str) -> int:
        """Delete a user's statistics and decisions, of all problems; return how many decisions."""
        return int(self._ask("DELETE", _user_path(user))["decisions"])

    def log(self, after: int = 0, problem: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the decisions numbered above ``after``."""
        path = self._path("/v1/log", problem, after=after)
        try:
            with self._http.stream("GET", self.url + path) as answer:
                if answer.status_code != 200:
                    answer.read()
                    raise _error(answer)
                for line in answer.iter_lines():
                    yield json.loads(line)
        except httpx.TransportError as reason:
            raise self._silent(reason) from reason

    def activity(self, minutes: int = 60, problem: str | None = None) -> dict[str, Any]:
        """Return what happened in the last minutes."""
        return self._ask("GET", self._path("/v1/activity", problem, minutes=minutes))

    def comparison(self, problem: str | None = None) -> dict[str, Any]:
        """Return how the model's users do against the control group's."""
        return self._ask("GET", self._path("/v1/comparison", problem))

    @property
    def model(self) -> str:
        """The name of the model that decides now."""
        return str(self._ask("GET", self._path("/v1/model", None))["model"])

    @property
    def problems(self) -> dict[str, str]:
        """The name of the model that decides now in each problem."""
        return dict(self._ask("GET", "/v1/problems")["problems"])

    def put_model(self, policy: "Policy", problem: str | None = None) -> str:
        """Serve another policy from now on; return the name of its model."""
        path = self._path("/v1/model", problem)
        return str(self._ask("PUT", path, {"policy": policy.to_dict()})["model"])

    def rollback(self, problem: str | None = None) -> str:
        """Serve the model before the newest; return its name.

        It is asked for once only: if the answer is lost, look at `model` before you try again,
        since who goes back twice is two models back.
        """
        path = self._path("/v1/model/rollback", problem)
        return str(self._ask("POST", path, retries=0)["model"])

    def ready(self) -> None:
        """Return if the server can decide."""
        self._ask("GET", "/readyz")

    @property
    def unreadable(self) -> list[str]:
        """The newest models that the server cannot read; older ones decide."""
        return list(self._ask("GET", "/readyz")["unreadable"])

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def _ask(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        retries: int | None = None,
    ) -> dict[str, Any]:
        """Return the answer's body; ask again where that may help."""
        retries = self.retries if retries is None else retries
        try:
            content = None if body is None else json.dumps(body, allow_nan=False, default=float)
        except (TypeError, ValueError) as error:
            raise LobInputError(f"this cannot be sent as JSON: {error}") from None
        for attempt in range(retries + 1):
            pause = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE)
            try:
                answer = self._http.request(method, self.url + path, content=content)
                if answer.status_code not in (502, 503, 504):
                    break
                wrong: ServiceError = _error(answer)
                asked = answer.headers.get("retry-after", "")
                if asked.isdigit():
                    pause = max(pause, min(float(asked), LONGEST_PAUSE))
            except httpx.TransportError as reason:
                wrong = self._silent(reason)
            if attempt == retries:
                raise wrong
            time.sleep(pause * random.uniform(0.5, 1.0))
        if answer.status_code != 200:
            raise _error(answer)
        try:
            return dict(answer.json())
        except (TypeError, ValueError):
            raise error_of("unexpected_answer", f"{self.url} answered no JSON") from None

    def _path(self, path: str, problem: str | None, **values: Any) -> str:
        """Return a path with its query; None is left out."""
        asked = {**values, "problem": problem or self.problem}
        query = urlencode({name: value for name, value in asked.items() if value is not None})
        return f"{path}?{query}" if query else path

    def _named(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request that may be repeated: it has an id."""
        allowed = request.get("allowed")
        if isinstance(allowed, str):
            raise LobInputError("allowed must be a list of arms")
        listed = None if allowed is None else list(allowed)
        problem = request.get("problem") or self.problem
        named = {"allowed": listed, "id": request.get("id") or new_id(), "problem": problem}
        return {**request, **named}

    def _silent(self, reason: Exception) -> StoreUnavailableError:
        return StoreUnavailableError(f"{self.url} does not answer: {reason}")


def _user_path(user: str) -> str:
    try:
        name = quote(str(user), safe="")
    except UnicodeEncodeError:
        raise LobInputError("a user must be named by valid Unicode text") from None
    return "/v1/users/" + name.replace(".", "%2E")  # a name may be "..", which is no folder


def _error(answer: httpx.Response) -> ServiceError:
    try:
        error = answer.json()["error"]
        return error_of(error["code"], error["message"])
    except (ValueError, LookupError, TypeError):
        return error_of("unexpected_answer", f"the server answered {answer.status_code}")
