"""From logs to a model of users: aggregation, EM, and the paper's clustering."""

from lobandits.learning.exact import ExactOrders, exact_orders
from lobandits.learning.generated import (
    GaussianRatings,
    GeneratedRatings,
    make_gaussian_ratings,
    make_ratings,
)
from lobandits.learning.kmeans import KendallKMeans
from lobandits.learning.learn import learn
from lobandits.learning.logs import reward_table
from lobandits.learning.model import Model
from lobandits.learning.movielens import MovieLensRatings, load_movielens
from lobandits.learning.table import RewardTable

__all__ = [
    "ExactOrders",
    "GaussianRatings",
    "GeneratedRatings",
    "KendallKMeans",
    "Model",
    "MovieLensRatings",
    "RewardTable",
    "exact_orders",
    "learn",
    "load_movielens",
    "make_gaussian_ratings",
    "make_ratings",
    "reward_table",
]
