"""How OpenAPI describes the routes."""

from collections.abc import Iterable
from typing import Any

from lobandits.service.http.bodies import ErrorAnswer

DESCRIPTION = """\
Decisions for users from latent preference orders. Send `Authorization: Bearer KEY`: the key in
`LOB_API_KEY` may decide and record rewards, the one in `LOB_ADMIN_KEY` may do everything. Every
answer that is no success is `{"error": {"code", "message"}}`.
"""
TAGS = {
    "decide": "For programs that decide: either key.",
    "admin": "For people who look after the service: the admin key.",
    "health": "For those who watch over processes.",
}
MEANINGS = {
    401: "The key is missing or wrong.",
    403: "The key may not do this.",
    404: "There is no such decision or user.",
    409: "The id or the decision is taken, or there is no model to go back to.",
    413: "The body is too large.",
    422: "A value is missing, unknown or wrong.",
    500: "Something unexpected; the server's log has more.",
    503: "The store does not answer now; try again after the seconds in Retry-After.",
}


def described(tag: str, *statuses: int, content: Iterable[str] = ()) -> dict[str, Any]:
    """Return how OpenAPI shows a route; ``content`` is that of a success that is not JSON."""
    answers: dict[int, dict[str, Any]] = {
        status: {"model": ErrorAnswer, "description": MEANINGS[status]}
        for status in (401, 403, 413, 500, *statuses)
    }
    if 503 in answers:
        seconds = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        answers[503]["headers"] = {"Retry-After": seconds}
    if content:
        answers[200] = {"content": {kind: {} for kind in content}}
    return {"tags": [tag], "responses": answers}
