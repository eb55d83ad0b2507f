"""LearnedUsers: an environment of the users that a learned model expects."""

from dataclasses import dataclass

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray, positive, whole
from lobandits.beliefs import Gaussian, Prior
from lobandits.errors import LobInputError
from lobandits.learning import Model
from lobandits.simulation.problems import Problems
from lobandits.simulation.rewards import KINDS
from lobandits.simulation.streams import BLOCK, Stream, block_generator, blocks_of


@dataclass(frozen=True, eq=False)
class LearnedUsers:
    r"""Users drawn from the prior of a model, with mean rewards :math:`\mu_a = g(\eta_a)`.

    They are as the model sees users, so policies that know it are at their best here; only users
    who were held out tell whether it is right. Rewards are as its likelihood says. Where the model
    knows features, theirs are as common as they were, every feature by itself.

    Parameters
    ----------
    model
        From :func:`lobandits.learn`, or a file.
    sigma
        Of Gaussian rewards: their standard deviation; by default the model's.

    Examples
    --------
    >>> import lobandits as lob
    >>> ratings = lob.make_ratings(n_users=100, n_arms=4, n_states=2)
    >>> model = lob.learn(ratings.table, "userId", "genre", "rating", n_states=2)
    >>> LearnedUsers(model).sample(3, seed=0).means.shape
    (3, 4)
    """

    model: Model
    sigma: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise LobInputError(f"model must be a Model, got {type(self.model).__name__}")
        kind = self.model.likelihood.name
        if kind not in KINDS:
            raise LobInputError(
                f"the model's rewards are {kind!r}, and simulated are {', '.join(KINDS)}; learn "
                "with one of these"
            )
        if self.sigma is not None and kind != "gaussian":
            raise LobInputError(
                f"sigma is {self.sigma!r}, but the noise of {kind} rewards follows from their "
                "means; leave sigma out"
            )
        noise = self.model.sigma if self.sigma is None else positive("sigma", self.sigma)
        prior = self.model.prior
        told = prior if self.sigma is None else prior.with_likelihood(Gaussian(noise))
        vars(self).update(sigma=noise, prior=told)

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Draw the users from ``first`` on; see `Environment`."""
        n, first = whole("n", n), whole("first", first, least=0)
        blocks, seed = blocks_of(first, n), whole("seed", seed, least=0)
        prior = self.model.prior
        drawn = [_drawn(prior, block_generator(seed, Stream.PROBLEMS, b)) for b in blocks]
        some = slice(first - blocks.start * BLOCK, first - blocks.start * BLOCK + n)
        states, means, x = (np.concatenate(part)[some] for part in zip(*drawn, strict=True))
        return Problems(
            means=means,
            sigma=self.sigma,  # type: ignore[arg-type]
            states=states,
            orders=None,
            state_means=prior.state_means,
            rewards=prior.likelihood.name,
            past=vars(self)["prior"],
            features=x if x.shape[1] else None,
        )

    def __repr__(self) -> str:
        return f"LearnedUsers({self.model!r}, sigma={self.sigma:.3g})"


def _drawn(prior: Prior, rng: np.random.Generator) -> tuple[IntArray, FloatArray, FloatArray]:
    """Draw a block of users: their states, mean rewards and features, (BLOCK, p)."""
    if prior.features is None:
        return *prior.draw(BLOCK, rng), np.empty((BLOCK, 0))
    x = prior.features.features.draw(BLOCK, rng)
    return *prior.draw(BLOCK, rng, x), x
