"""Orders from logs: aggregation, clustering, and the model that decides for new users."""

from lobandits.learning.kmeans import KendallKMeans

__all__ = [
    "KendallKMeans",
"""Orders from logs of (user, arm, reward)."""

from lobandits.learning.logs import reward_table
from lobandits.learning.table import RewardTable

__all__ = [
    "RewardTable",
    "reward_table",
]
