"""Answers that say no: ``{"error": {"code", "message"}}``, whatever went wrong."""

import json
from collections.abc import Mapping

from starlette.responses import Response


def refusal(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer to a request that is refused or failed.

    Examples
    --------
    >>> refusal(404, "not_found", "there is no such route").body
    b'{"error": {"code": "not_found", "message": "there is no such route"}}'
    """
    body = json.dumps({"error": {"code": code, "message": message}}).encode()
    return Response(body, status, headers, media_type="application/json")
