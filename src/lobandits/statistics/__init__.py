"""What was seen of users: counts and sums that add up, merge and, where asked, fade."""

from lobandits.statistics.fading import FadingState
from lobandits.statistics.state import State, array, empty_state

__all__ = ["FadingState", "State", "array", "empty_state"]
