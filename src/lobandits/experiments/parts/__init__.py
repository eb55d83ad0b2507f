"""Parts: the units of work that are run once, saved, and shared between figures."""

from lobandits.experiments.parts.measurement import Measure, Measurement
from lobandits.experiments.parts.part import Part, Resources
from lobandits.experiments.parts.ratings import GENERATED, RatingData
from lobandits.experiments.parts.record import Record, mean_and_error
from lobandits.experiments.parts.simulation import Simulation
from lobandits.experiments.parts.storage import load_part, part_key, save_part

__all__ = [
    "GENERATED",
    "Measure",
    "Measurement",
    "Part",
    "RatingData",
    "Record",
    "Resources",
    "Simulation",
    "load_part",
    "mean_and_error",
    "part_key",
    "save_part",
]
