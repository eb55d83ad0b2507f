"""The service over HTTP: an ASGI app, and the server that ``lob serve`` runs."""

from lobandits.service.http.app import create_app
from lobandits.service.http.keys import Settings

__all__ = ["Settings", "create_app"]
