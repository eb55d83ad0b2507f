"""A part that calls a function of a figure: what the figure shows besides simulations."""

import inspect
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.parts.part import Advance, Resources
from lobandits.experiments.parts.ratings import RatingData
from lobandits.experiments.parts.record import Record

Measure = Callable[..., Mapping[str, FloatArray]]
"""A function that returns samples by label, each of shape (n,).

Its part is known by the text of the function's file: besides the layers below, and parts, it uses
nothing of this package that stands elsewhere.
"""


@dataclass(frozen=True)
class Measurement:
    """The call of a function with its options; ``on_ratings`` adds the ratings as the first."""

    measure: Measure
    options: Mapping[str, Any]
    on_ratings: bool = False
    cost: ClassVar[float] = 1e6

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON; the function counts by its file's text."""
        text = inspect.getsource(sys.modules[self.measure.__module__])
        return self._shown_settings(ratings) | {"text": text}

    def _shown_settings(self, ratings: RatingData) -> dict[str, Any]:
        settings = {"measure": self.measure.__name__, **self.options}
        return settings | ({"ratings": ratings.key} if self.on_ratings else {})

    def run(self, resources: Resources, advance: Advance) -> Record:
        """Call the function."""
        began, cpu = time.perf_counter(), time.process_time()
        data = (resources.ratings,) if self.on_ratings else ()
        samples = self.measure(*data, **self.options)
        advance(1.0)
        return Record(
            settings=self._shown_settings(resources.ratings),
            points=np.ones(1),
            samples={label: np.asarray(v, dtype=float)[:, None] for label, v in samples.items()},
            seconds={self.measure.__name__: time.perf_counter() - began},
            cpu_seconds={self.measure.__name__: time.process_time() - cpu},
        )
