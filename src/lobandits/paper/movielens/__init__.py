"""MovieLens: its editions, downloaded, read, added up by user and genre, and an environment."""

from lobandits.paper.movielens.environment import MovieLens
from lobandits.paper.movielens.genres import genre_table
from lobandits.paper.movielens.ratings import MovieLensRatings, load_movielens

__all__ = ["MovieLens", "MovieLensRatings", "genre_table", "load_movielens"]
