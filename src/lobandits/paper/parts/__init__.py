"""Parts: the units of work that are run once, saved, and shared between figures."""

from lobandits.paper.parts.part import (
    Measure,
    Measurement,
    Part,
    Resources,
    Simulation,
    caller,
)
from lobandits.paper.parts.ratings import GENERATED, Generator, RatingData
from lobandits.paper.parts.record import (
    Key,
    Record,
    Records,
    axis_title,
    axis_values,
    key_text,
    mean_and_error,
    value_text,
)
from lobandits.paper.parts.storage import load_part, part_key, save_part

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
    "Resources",
    "Simulation",
    "axis_title",
    "axis_values",
    "caller",
    "key_text",
    "load_part",
    "mean_and_error",
    "part_key",
    "save_part",
    "value_text",
]
