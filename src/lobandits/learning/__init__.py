"""Orders from logs: aggregation, clustering, and the model that decides for new users."""

from lobandits.learning.exact import exact_orders
from lobandits.learning.generated import (
    GaussianRatings,
    GeneratedRatings,
    make_gaussian_ratings,
    make_ratings,
)
from lobandits.learning.kmeans import KendallKMeans
from lobandits.learning.learn import learn_orders
from lobandits.learning.logs import reward_table
from lobandits.learning.model import OrderModel
from lobandits.learning.movielens import MovieLensRatings, load_movielens
from lobandits.learning.table import RewardTable

__all__ = [
    "GaussianRatings",
    "GeneratedRatings",
    "KendallKMeans",
    "MovieLensRatings",
    "OrderModel",
    "RewardTable",
    "exact_orders",
    "learn_orders",
    "load_movielens",
    "make_gaussian_ratings",
    "make_ratings",
    "reward_table",
]
