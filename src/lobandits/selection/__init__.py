"""Choosing the number of states on users who were not learned from."""

from lobandits.selection.choice import StatesChoice
from lobandits.selection.choose import choose_n_states

__all__ = [
    "StatesChoice",
    "choose_n_states",
]
