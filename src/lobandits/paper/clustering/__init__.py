"""The paper's clustering of users by their orders."""

from lobandits.paper.clustering.exact import ExactOrders, exact_orders
from lobandits.paper.clustering.kmeans import KendallKMeans

__all__ = ["ExactOrders", "KendallKMeans", "exact_orders"]
