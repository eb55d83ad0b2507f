"""Appendix B.2: how many users, movies, ratings and genres of MovieLens pass the filters."""

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.paper.claims import (
    NO_VARIANTS,
    Claim,
    Estimate,
    NotTestable,
    exactly,
    for_each,
)
from lobandits.paper.experiment import Experiment, Survey
from lobandits.paper.figures.movielens_task import PAPER_EDITION
from lobandits.paper.parts import RatingData, Records

PAPER_SIZES = {"users": 26_826, "movies": 6_236, "ratings": 11_905_303, "genres": 19}


def count_data(ratings: RatingData, seed: int) -> dict[str, FloatArray]:
    """Return the users, movies, ratings and genres that remain; generated are no movies."""
    facts = {"movies": 0} | ratings.facts()
    return {name: np.array([float(facts[name])]) for name in PAPER_SIZES}


WORK = (Survey("sizes", count_data, {"tiny": {}, "default": {}, "full": {}}, on_ratings=True),)


def _as_printed(records: Records) -> list[Estimate]:
    if records.data != PAPER_EDITION:
        raise NotTestable(f"the paper counts {PAPER_EDITION}, here are {records.data}")
    own = {name: float(records.at().total(name)[0]) for name in PAPER_SIZES}
    return [
        exactly(f"half minus |{own[name]:,.0f} - {paper:,}| {name}", 0.5 - abs(own[name] - paper))
        for name, paper in PAPER_SIZES.items()
    ]


CLAIMS = (
    Claim(
        id="movielens-filtered-size",
        where="Appendix B.2, 2nd paragraph; k = 19 in Section 4.2",
        words="After the filters 26,826 users, 6,236 movies, 11,905,303 ratings, 19 genres remain.",
        statistic="0.5 minus the distance from each printed number",
        test=for_each(NO_VARIANTS, _as_printed),
    ),
)

EXPERIMENT = Experiment(
    name="filtered-data",
    place="Appendix B.2",
    title="MovieLens: what remains after the filters",
    work=WORK,
    claims=CLAIMS,
    value="number",
    unit="counts",
)
