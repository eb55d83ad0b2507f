"""Parts: the units of work that are run once, saved, and shared between figures."""

from lobandits.paper.parts.part import Measure, Measurement, Part, Simulation
from lobandits.paper.parts.ratings import GENERATED, Generator, RatingData
from lobandits.paper.parts.record import Key, Record, Records, joined, mean_and_error

__all__ = [
    "GENERATED",
    "Generator",
    "Key",
    "Measure",
    "Measurement",
    "Part",
    "RatingData",
    "Record",
    "Records",
    "Simulation",
    "joined",
    "mean_and_error",
]
