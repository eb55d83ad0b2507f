"""What logs know of users before their first reward: states, their shares, scales and spread."""

from lobandits.priors.prior import Prior

__all__ = ["Prior"]
