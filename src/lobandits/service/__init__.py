"""Decisions in production: on a store, over HTTP, and from a client elsewhere.

Names load on first use, so that the client needs httpx alone.
"""

from lobandits.basics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
