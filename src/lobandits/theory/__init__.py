"""Bounds on regret, the rarity of similar orders, and sample sizes."""

from lobandits.theory.graves_lai import regret_lower_bound
from lobandits.theory.identifiability import samples_for_exact_orders, similar_order_probability
from lobandits.theory.lower_bound import LowerBound
from lobandits.theory.upper_bound import (
    UpperBound,
    lobucb_regret_bound,
    toparms_regret_bound,
)

__all__ = [
    "LowerBound",
    "UpperBound",
    "lobucb_regret_bound",
    "regret_lower_bound",
    "samples_for_exact_orders",
    "similar_order_probability",
    "toparms_regret_bound",
]
