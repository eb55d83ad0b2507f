"""The page at ``/``: files of this package, which ask the HTTP interface for their data."""

from collections.abc import Awaitable, Callable
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

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


def page_routes() -> list[Route]:
    """Return the routes of the page's files.

    Examples
    --------
    >>> page_routes()[1].path
    '/static/page.css'
    """
    return [Route(path, _answer(name), include_in_schema=False) for path, name in PATHS.items()]


def _answer(name: str) -> Callable[[Request], Awaitable[Response]]:
    body, kind = FOLDER.joinpath(name).read_bytes(), KINDS[name.rpartition(".")[2]]

    async def answer(request: Request) -> Response:
        return Response(body, headers=HEADERS, media_type=kind)

    return answer
