"""MovieLens: its editions, read, downloaded, and added up by user and genre."""

from lobandits.learning.movielens.genres import genre_table
from lobandits.learning.movielens.ratings import MovieLensRatings, load_movielens

__all__ = ["MovieLensRatings", "genre_table", "load_movielens"]
