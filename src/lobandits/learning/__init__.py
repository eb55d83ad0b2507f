"""Orders from logs: aggregation, clustering, and the model that decides for new users."""

from lobandits.learning.kmeans import KendallKMeans

__all__ = [
    "KendallKMeans",
]
