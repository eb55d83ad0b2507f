"""Orders from logs of (user, arm, reward)."""

from lobandits.learning.logs import reward_table
from lobandits.learning.ratings import GeneratedRatings, make_ratings
from lobandits.learning.table import RewardTable

__all__ = [
    "GeneratedRatings",
    "RewardTable",
    "make_ratings",
    "reward_table",
]
