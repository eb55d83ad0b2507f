"""Choosing the number of states on users who were not learned from."""

from lobandits.selection.choose import StatesChoice, choose_n_states

__all__ = [
    "StatesChoice",
    "choose_n_states",
]
