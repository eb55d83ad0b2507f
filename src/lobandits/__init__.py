"""Latent order bandits: cold-start decisions from preference orders.

Names load on first use, so that ``import lobandits`` is quick and compiles nothing.
"""

from lobandits.basics.lazy import lazy_names

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
