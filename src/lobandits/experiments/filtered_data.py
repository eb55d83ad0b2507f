"""What remains of MovieLens after the paper's filters."""

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import Claim, Evidence, NotTestable, all_of, exactly
from lobandits.experiments.data import RatingData
from lobandits.experiments.design import Experiment, Found, Survey
from lobandits.experiments.figure_3b import PAPER_EDITION

PAPER = {"users": 26_826, "ratings": 11_905_303, "genres": 19}


def count_data(ratings: RatingData, seed: int) -> dict[str, FloatArray]:
    """Return the users, ratings and genres that remain."""
    facts = ratings.facts()
    return {name: np.array([float(facts[name])]) for name in PAPER}


def _as_printed(found: Found) -> dict[str, Evidence]:
    if found.data != PAPER_EDITION:
        raise NotTestable(f"the paper counts {PAPER_EDITION}, here are {found.data}")
    record = found.at()
    own = {name: float(record.total(name)[0]) for name in PAPER}
    return {
        "": all_of(
            exactly(
                f"half minus |{own[name]:,.0f} - {paper:,}| {name}", 0.5 - abs(own[name] - paper)
            )
            for name, paper in PAPER.items()
        )
    }


CLAIMS = (
    Claim(
        id="movielens-filtered-size",
        where="Appendix B.2, 2nd paragraph; k = 19 in Section 4.2",
        words="After the filters 26,826 users, 11,905,303 ratings and 19 genres remain.",
        statistic="0.5 minus the distance from each printed number",
        test=_as_printed,
    ),
)

EXPERIMENT = Experiment(
    name="filtered-data",
    place="Appendix B.2",
    title="MovieLens: what remains after the filters",
    work=(Survey("sizes", count_data, {"tiny": {}, "default": {}, "full": {}}, on_ratings=True),),
    claims=CLAIMS,
    value="number",
    on_ratings=True,
)
