"""Orders from logs: aggregation, clustering, and the model that decides for new users."""

from lobandits.learning.kmeans import KendallKMeans
from lobandits.learning.logs import reward_table
from lobandits.learning.movielens import MovieLensRatings, load_movielens
from lobandits.learning.ratings import GeneratedRatings, make_ratings
from lobandits.learning.table import RewardTable

__all__ = [
    "GeneratedRatings",
    "KendallKMeans",
    "MovieLensRatings",
    "RewardTable",
    "load_movielens",
    "make_ratings",
    "reward_table",
]
