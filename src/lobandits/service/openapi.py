"""What OpenAPI says beyond the routes: the text at its head, and every answer that says no."""

from typing import Any

from lobandits.service.schemas import ErrorAnswer

DESCRIPTION = """\
Decisions for users from latent preference orders. Send `Authorization: Bearer KEY`: the key in
`LOB_API_KEY` may decide and record rewards, the one in `LOB_ADMIN_KEY` may do everything. Every
answer that is no success is `{"error": {"code", "message"}}`.
"""
TAGS = [
    {"name": "decide", "description": "For programs that decide: either key."},
    {"name": "admin", "description": "For people who look after the service: the admin key."},
    {"name": "health", "description": "For those who watch over processes."},
]
MEANINGS = {
    401: "The key is missing or wrong.",
    403: "The key may not do this.",
    404: "There is no such decision or user.",
    409: "The id or the decision is taken: by another user, or by another reward.",
    413: "The body is too large.",
    422: "A value is missing, unknown or wrong.",
    500: "Something unexpected; the server's log has more.",
    503: "The store does not answer now; try again after the seconds in Retry-After.",
}
RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how OpenAPI describes the answers that say no, with those of every route.

    Examples
    --------
    >>> sorted(errors(404))
    [401, 403, 404, 413, 500]
    """
    found: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorAnswer, "description": MEANINGS[status]}
        for status in (401, 403, 413, 500, *statuses)
    }
    if 503 in found:
        found[503]["headers"] = RETRY
    return found
