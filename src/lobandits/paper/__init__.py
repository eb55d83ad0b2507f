"""What only a reader of the paper needs; names load on first use.

Its figures, tables and claims, as data, and one runner that runs what is missing and judges;
MovieLens, the clustering by orders, and duels.
"""

from lobandits.basics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
