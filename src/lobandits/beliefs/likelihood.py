r"""Likelihood: how rewards come from a user's taste, and what they tell of it.

A user's taste of an arm is :math:`\eta` on the scale of a link; rewards have the mean
:math:`g(\eta)`. A *cell* is what a user gave an arm: n rewards of average y. A likelihood turns it
into a value with a variance on the link's scale, given what is believed of :math:`\eta` so far,

.. math:: \mathrm{value} = e + \frac{y - E g(\eta)}{E g'(\eta)}, \qquad
          \mathrm{variance} = \frac{1}{n \, E g'(\eta)}, \qquad \eta \sim N(e, v),

and everything else takes values and variances alone. Expectations, and not the slope at the mode:
this is the Gaussian nearest to the posterior, which Laplace's is too narrow for. They are taken at
three nodes, 0 and :math:`\pm \sqrt{3 v}`, which is exact for polynomials up to the fifth degree.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lobandits.basics.checks import FloatArray, one_of
from lobandits.basics.frozen import Frozen
from lobandits.errors import LobInputError

LIKELIHOODS: dict[str, "type[Likelihood]"] = {}
"""The class of every likelihood, by its name: ours, and yours."""

FAR = 12.0  # tastes beyond are beyond what rewards tell: a rate of 6e-6
ROOT_3 = float(np.sqrt(3.0))


@dataclass(frozen=True)
class Likelihood(Frozen, ABC):
    """How rewards come from tastes; defining a subclass with a ``name`` makes it known.

    A subclass has `mean`, `slope`, `link`, `noise`, `log_density`, `draw` and `fault`; that is all.
    """

    name: ClassVar[str]
    exact: ClassVar[bool] = False
    """Whether cells are the same whatever is believed: one round is enough."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Make a class that has a name of its own known to `LIKELIHOODS`."""
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            LIKELIHOODS[cls.name] = cls

    # What a likelihood says ---------------------------------------------------------------------

    @abstractmethod
    def mean(self, eta: FloatArray) -> FloatArray:
        """Return the mean reward g of tastes."""

    @abstractmethod
    def slope(self, eta: FloatArray) -> FloatArray:
        """Return the slope g' of the mean reward."""

    @abstractmethod
    def link(self, mean: FloatArray) -> FloatArray:
        """Return the tastes of mean rewards, the inverse of `mean`."""

    @abstractmethod
    def noise(self, mean: FloatArray) -> FloatArray:
        """Return the variance of one reward, by its mean; the last axis may be that of arms."""

    @abstractmethod
    def log_density(self, counts: FloatArray, sums: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the log density of a cell's rewards given its taste, up to a constant of it."""

    @abstractmethod
    def draw(self, means: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw one reward for each of these means; the last axis is that of arms."""

    @abstractmethod
    def fault(self, counts: FloatArray, sums: FloatArray, squares: FloatArray) -> str:
        """Return why rewards, summed up by user and arm, cannot be of this kind; "" if they can."""

    def first_cells(
        self, counts: FloatArray, sums: FloatArray, arms: np.ndarray[Any, np.dtype[np.int64]]
    ) -> tuple[FloatArray, FloatArray]:
        """Return values and variances of cells before anything is believed of them.

        Half a reward more on either side keeps cells of extreme rewards finite.
        """
        mean = self.mean(np.clip(self.link((sums + 0.5) / (counts + 1.0)), -FAR, FAR))
        value = self.link(mean)
        return value, 1.0 / (counts * self.slope(value))

    # What follows -------------------------------------------------------------------------------

    def cells(
        self, counts: FloatArray, sums: FloatArray, e: FloatArray, v: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return values and variances of cells whose tastes are believed to be N(e, v)."""
        centre = np.clip(e, -FAR, FAR)
        mean, slope = self.expected(self.mean, centre, v), self.expected(self.slope, centre, v)
        slope = np.maximum(slope, 1e-300)
        return centre + (sums / counts - mean) / slope, 1.0 / (counts * slope)

    def expected(self, f: Any, e: FloatArray, v: FloatArray) -> FloatArray:
        """Return E f(eta) for eta ~ N(e, v), at three nodes."""
        away = ROOT_3 * np.sqrt(v)
        mean: FloatArray = (4.0 * f(e) + f(e - away) + f(e + away)) / 6.0
        return mean

    def remainder(
        self,
        counts: FloatArray,
        sums: FloatArray,
        cells: tuple[FloatArray, FloatArray],
        belief: tuple[FloatArray, FloatArray],
    ) -> FloatArray:
        r"""Return what the cells' Gaussian evidence lacks of the rewards' evidence, by cell.

        .. math:: E \log p(\mathrm{rewards} \mid \eta) - E \log N(\mathrm{value}; \eta,
                  \mathrm{variance}), \qquad \eta \sim N(e, v):

        with it, the evidence is the variational bound on that of the rewards.
        """
        (value, variance), (e, v) = cells, belief
        exact = self.expected_log_density(counts, sums, e, v)
        gaussian = -0.5 * (((value - e) ** 2 + v) / variance + np.log(2.0 * np.pi * variance))
        rest: FloatArray = exact - gaussian
        return rest

    def expected_log_density(
        self, counts: FloatArray, sums: FloatArray, e: FloatArray, v: FloatArray
    ) -> FloatArray:
        """Return E log p(rewards | eta) for eta ~ N(e, v), at three nodes."""
        return self.expected(lambda eta: self.log_density(counts, sums, eta), e, v)

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters as plain data; `likelihood_from_dict` is the way back."""
        return {"likelihood": self.name} | self._plain()

    def with_arm(self, like: int | None) -> "Likelihood":
        """Return the likelihood with one more arm, the last, like an arm or like the average."""
        return self


def likelihood_from_dict(data: Any, source: str = "likelihood") -> Likelihood:
    """Return the likelihood that `Likelihood.to_dict` described; errors open with ``source``."""
    if not isinstance(data, Mapping) or "likelihood" not in data:
        raise LobInputError(f"{source} needs the field 'likelihood', its name")
    cls = LIKELIHOODS[one_of(source, data["likelihood"], list(LIKELIHOODS))]
    given = {name: value for name, value in data.items() if name != "likelihood"}
    return cls(**cls._decoded(given, source))
