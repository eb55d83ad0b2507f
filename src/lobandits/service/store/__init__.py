"""The store of a service: SQLite in one file, or PostgreSQL."""

from lobandits.service.store.store import Store, open_store

__all__ = ["Store", "open_store"]
