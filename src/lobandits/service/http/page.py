"""The page at ``/``: files of this package, without data."""

from collections.abc import Awaitable, Callable
from importlib.resources import files

from fastapi import FastAPI, Response

PAGE = {"/": "page.html"} | {f"/static/{f}": f for f in ("page.css", "page.js", "charts.js")}
"""The files of the page by their paths. None holds data, so none needs a key."""

MEDIA = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
    "Referrer-Policy": "no-referrer",
}
"""The browser loads our files, asks our server, and does nothing else."""


def add_page(app: FastAPI) -> None:
    """Add the files of the page at ``/``, which asks the routes above for its data."""
    for path, name in PAGE.items():
        app.get(path, include_in_schema=False, response_class=Response)(_sent(name))


def _sent(name: str) -> Callable[[], Awaitable[Response]]:
    body = files("lobandits.service.http").joinpath("static", name).read_bytes()
    kind = MEDIA[name.rpartition(".")[2]]

    async def answer() -> Response:
        return Response(body, headers=HEADERS, media_type=kind)

    return answer
