"""LearnedUsers: an environment of the users that a learned model expects."""

from dataclasses import dataclass

import numpy as np

from lobandits._checks import FloatArray, IntArray, positive, whole
from lobandits.errors import LobInputError
from lobandits.learning import OrderModel
from lobandits.simulation.problems import Problems
from lobandits.simulation.streams import BLOCK, Stream, block_generator, blocks_of


@dataclass(frozen=True, eq=False)
class LearnedUsers:
    r"""Users drawn from the prior of a model, :math:`\mu \mid s \sim N(m_s, C_s)`, with its orders.

    They are as the model sees users, so policies that know it are at their best here; only users
    who were held out tell whether it is right. Of a model without a prior, each user has the means
    of a state, and states are as common as in the logs. Rewards are Gaussian.

    Parameters
    ----------
    model
        From :func:`lobandits.learn_orders`, or a file.
    sigma
        Standard deviation of a reward; by default the model's.

    Examples
    --------
    >>> import lobandits as lob
    >>> ratings = lob.make_ratings(n_users=100, n_arms=4, n_states=2)
    >>> model = lob.learn_orders(ratings.table, "userId", "genre", "rating", n_states=2)
    >>> LearnedUsers(model).sample(3, seed=0).means.shape
    (3, 4)
    """

    model: OrderModel
    sigma: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, OrderModel):
            raise LobInputError(f"model must be an OrderModel, got {type(self.model).__name__}")
        noise = self.model.sigma if self.sigma is None else self.sigma
        if self.sigma is None and not noise > 0:
            raise LobInputError("the model does not know how noisy rewards are; give sigma")
        vars(self).update(sigma=positive("sigma", noise))

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Draw the users from ``first`` on; see `Environment`."""
        n, first = whole("n", n), whole("first", first, least=0)
        blocks, seed = blocks_of(first, n), whole("seed", seed, least=0)
        drawn = [self._draw(block_generator(seed, Stream.PROBLEMS, block)) for block in blocks]
        some = slice(first - blocks.start * BLOCK, first - blocks.start * BLOCK + n)
        states, means = (np.concatenate(part)[some] for part in zip(*drawn, strict=True))
        return Problems(
            means=means,
            sigma=self.sigma,  # type: ignore[arg-type]
            states=states,
            orders=self.model.orders,
            state_means=self.model.state_means,
            past=self.model.prior,
        )

    def _draw(self, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
        model = self.model
        if model.prior is not None:
            return model.prior.draw(BLOCK, rng)
        states = rng.choice(len(model.sizes), size=BLOCK, p=model.sizes / model.sizes.sum())
        return states, model.state_means[states]

    def __repr__(self) -> str:
        return f"LearnedUsers({self.model!r}, sigma={self.sigma:.3g})"
