"""The page at ``/``: files of this package, which ask the HTTP interface for their data."""

from collections.abc import Awaitable, Callable
from importlib.resources import files

from fastapi import FastAPI
from starlette.responses import Response

FOLDER = files("lobandits.service").joinpath("static")
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
SCRIPTS = ("page.js", "charts.js", "service.js", "text.js", "user.js")
PATHS = {"/": "page.html"} | {f"/static/{name}": name for name in ("page.css", *SCRIPTS)}
"""Path to file. None holds data, so none needs a key."""

RULES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
"""The browser loads our files, asks our server, and does nothing else."""

HEADERS = {"Content-Security-Policy": RULES, "Referrer-Policy": "no-referrer"}


def add_routes(app: FastAPI) -> None:
    """Add the routes of the page's files."""
    for path, name in PATHS.items():
        app.get(path, include_in_schema=False, response_class=Response)(_answer(name))


def _answer(name: str) -> Callable[[], Awaitable[Response]]:
    body, kind = FOLDER.joinpath(name).read_bytes(), KINDS[name.rpartition(".")[2]]

    async def answer() -> Response:
        return Response(body, headers=HEADERS, media_type=kind)

    return answer
