"""Errors of the service, of FastAPI and of requests, as answers."""

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from lobandits.errors import LobError
from lobandits.service.answers import refusal

RETRY_SECONDS = 1
STATUS = {
    "unknown_decision": 404,
    "unknown_user": 404,
    "reward_conflict": 409,
    "expired": 409,
    "id_conflict": 409,
    "store_unavailable": 503,
}
"""The HTTP status of each code; what is not here is wrong input, 422."""

NAMES = {404: "not_found", 405: "method_not_allowed"}
MOST_REASONS = 3
LONGEST_PLACE = 80  # characters: a field that we do not know may have any name


def add_failures(app: FastAPI) -> None:
    """Make every error of ``app`` an answer of the same form."""
    app.add_exception_handler(LobError, _refused)
    app.add_exception_handler(RequestValidationError, _unread)
    app.add_exception_handler(HTTPException, _unrouted)


async def _refused(request: Request, error: Exception) -> Response:
    code = str(getattr(error, "code", "invalid_request"))
    status = STATUS.get(code, 422)
    headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else None
    return refusal(status, code, str(error), headers)


async def _unread(request: Request, error: Exception) -> Response:
    """Say where the request is wrong, without repeating what it holds."""
    assert isinstance(error, RequestValidationError)
    kind = request.headers.get("content-type", "")
    if "json" not in kind.lower() and error.errors()[0]["loc"] == ("body",):
        return refusal(422, "invalid_request", "send JSON, with content-type: application/json")
    reasons = [
        f"{'.'.join(map(str, reason['loc'])):.{LONGEST_PLACE}}: {reason['msg']}"
        for reason in error.errors()
    ]
    more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
    return refusal(422, "invalid_request", "; ".join(reasons[:MOST_REASONS]) + more)


async def _unrouted(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status, detail = error.status_code, str(error.detail)
    if status == 400:
        return refusal(422, "invalid_request", "the body is no valid JSON")
    headers = {"Allow": _allowed(request)} if status == 405 else error.headers
    return refusal(status, NAMES.get(status, "refused"), detail, headers)


def _allowed(request: Request) -> str:
    """Return the methods that the path has."""
    routes = [r for r in request.app.routes if r.matches(request.scope)[0] != Match.NONE]
    return ", ".join(sorted({method for route in routes for method in route.methods}))
