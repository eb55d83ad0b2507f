"""Orders from logs of (user, arm, reward)."""

from lobandits.learning.exact import exact_orders
from lobandits.learning.kmeans import KendallKMeans
from lobandits.learning.learn import learn_orders
from lobandits.learning.logs import reward_table
from lobandits.learning.model import OrderModel
from lobandits.learning.ratings import GeneratedRatings, make_ratings
from lobandits.learning.table import RewardTable

__all__ = [
    "GeneratedRatings",
    "KendallKMeans",
    "OrderModel",
    "RewardTable",
    "exact_orders",
    "learn_orders",
    "make_ratings",
    "reward_table",
]
