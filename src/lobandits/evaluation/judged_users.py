"""The environment of judged users: means that were drawn, and what teachers taught."""

import numpy as np

from lobandits._checks import FloatArray
from lobandits.learning import OrderModel
from lobandits.simulation import Problems


class JudgedUsers:
    """An environment of the users drawn, who know what the teachers' model says."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Return the users from ``first`` on; nothing about them is random any more."""
        return self.problems.take(np.arange(first, first + n))

    def __repr__(self) -> str:
        return f"JudgedUsers({self.problems!r})"


def problems_of(
    means: FloatArray, model: OrderModel, binary: bool, residuals: FloatArray | None
) -> Problems:
    """Return users of these means, who know what a model says; rewards 0 or 1, or as residuals."""
    return Problems(
        means=means,
        sigma=model.sigma,
        states=np.full(len(means), -1),
        orders=model.orders,
        state_means=model.state_means,
        rewards="bernoulli" if binary else "gaussian",
        past=model.prior,
        residuals=residuals,
    )
