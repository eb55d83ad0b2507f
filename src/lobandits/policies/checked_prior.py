"""The one check of a prior."""

from lobandits.errors import LobInputError
from lobandits.priors import Prior


def checked_prior(prior: Prior) -> Prior:
    """Return a prior, or say where one comes from."""
    if not isinstance(prior, Prior):
        raise LobInputError(
            "prior must be a Prior, as learn_prior(logs) or Prior.from_orders(orders) makes it, "
            f"got {type(prior).__name__}"
        )
    return prior
