"""From logs to a model of users: aggregation and EM."""

from lobandits.learning.generated import (
    GaussianRatings,
    GeneratedRatings,
    make_gaussian_ratings,
    make_ratings,
)
from lobandits.learning.learn import learn
from lobandits.learning.logs import reward_table
from lobandits.learning.model import Model
from lobandits.learning.table import RewardTable

__all__ = [
    "GaussianRatings",
    "GeneratedRatings",
    "Model",
    "RewardTable",
    "learn",
    "make_gaussian_ratings",
    "make_ratings",
    "reward_table",
]
