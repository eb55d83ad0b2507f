"""Exact projections of means on the cones of orders (weighted isotonic regression)."""

from lobandits.projection.project import project, project_each, projection_losses

__all__ = ["project", "project_each", "projection_losses"]
