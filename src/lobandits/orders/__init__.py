"""Partial orders over arms, one per latent state: validated, immutable, hashable."""

from lobandits.orders.latent import LatentOrders
from lobandits.orders.partial import PartialOrder
from lobandits.orders.tables import CHAINS, DAG, TOTAL, OrderTables
from lobandits.orders.users import UserOrders

__all__ = [
    "CHAINS",
    "DAG",
    "TOTAL",
    "LatentOrders",
    "OrderTables",
    "PartialOrder",
    "UserOrders",
]
