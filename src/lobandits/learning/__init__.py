"""Orders from logs of (user, arm, reward)."""

from lobandits.learning.logs import reward_table
from lobandits.learning.table import RewardTable

__all__ = [
    "RewardTable",
    "reward_table",
]
