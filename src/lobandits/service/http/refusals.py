"""Every answer that is no success: ``{"error": {"code", "message"}}``."""

import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from lobandits.errors import LobError

MOST_REASONS = 3
STATUS = {
    "forbidden": 403,
    "unknown_decision": 404,
    "unknown_problem": 404,
    "unknown_user": 404,
    "reward_conflict": 409,
    "expired": 409,
    "id_conflict": 409,
    "no_earlier_model": 409,
    "store_unavailable": 503,
}
"""The HTTP status of each code; what is not here is wrong input, 422."""


def refusal(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer ``{"error": {"code", "message"}}``, whatever went wrong."""
    body = json.dumps({"error": {"code": code, "message": message}})
    return Response(body, status, headers, media_type="application/json")


async def refuse(request: Request, error: LobError) -> Response:
    """Answer an error of ours."""
    code = str(getattr(error, "code", "invalid_request"))
    status = STATUS.get(code, 422)
    return refusal(status, code, str(error), {"Retry-After": "1"} if status == 503 else None)


async def refuse_body(request: Request, error: RequestValidationError) -> Response:
    """Say where the request is wrong, without repeating what it holds."""
    reasons = [
        f"{'.'.join(map(str, reason['loc'])):.80}: {reason['msg']}"  # fields may have any name
        for reason in error.errors()
    ]
    kind = request.headers.get("content-type", "")
    if "json" not in kind.lower() and error.errors()[0]["loc"] == ("body",):
        reasons = ["send JSON, with content-type: application/json"]
    if len(reasons) > MOST_REASONS:
        reasons[MOST_REASONS:] = [f"and {len(reasons) - MOST_REASONS} more"]
    return refusal(422, "invalid_request", "; ".join(reasons))


async def refuse_route(request: Request, error: HTTPException) -> Response:
    """Say that there is no such route or method, or that the body is no JSON."""
    status, headers = error.status_code, error.headers
    if status == 400:
        return refusal(422, "invalid_request", "the body is no valid JSON")
    if status == 405:
        there = [r for r in request.app.routes if r.matches(request.scope)[0] != Match.NONE]
        headers = {"Allow": ", ".join(sorted(set().union(*(route.methods for route in there))))}
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "refused")
    return refusal(status, code, str(error.detail), headers)


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    LobError: refuse,
    RequestValidationError: refuse_body,
    HTTPException: refuse_route,
}
"""What answers each kind of error."""
