"""How rarely two random orders are similar."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import Claim, Evidence, all_of, estimate, exactly
from lobandits.experiments.design import Experiment, Found, Survey
from lobandits.experiments.draw import INK, Canvas
from lobandits.theory import similar_order_probability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIMULATED = (3, 4, 5, 6)
ARMS = tuple(range(3, 16))
PRINTED, PLACES = 1.24e-5, 0.005e-5
"""The paper's number for k = 10, and half a unit of its last digit."""
TOLERANCE = 0.1


def similar_pairs(arms: tuple[int, ...], n_pairs: int, seed: int) -> dict[str, FloatArray]:
    """Return whether pairs of distinct random orders differ in exactly two positions."""
    rng = np.random.default_rng(seed)
    found = {}
    for k in arms:
        kept: list[FloatArray] = []
        while sum(map(len, kept)) < n_pairs:
            pairs = rng.permuted(np.tile(np.arange(k), (n_pairs, 2, 1)), axis=2)
            differing = (pairs[:, 0] != pairs[:, 1]).sum(axis=1)
            kept.append((differing[differing > 0] == 2).astype(float))
        found[f"k = {k}"] = np.concatenate(kept)[:n_pairs]
    return found


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw the formula, and what was simulated."""
    figure, (place,) = canvas.panels(1)
    place.plot(ARMS, [float(similar_order_probability(k)) for k in ARMS], color=INK, marker=".")
    record = found.at()
    for k, label in zip(SIMULATED, record.labels, strict=True):
        (mean,), (error,) = record.curve(label)
        place.errorbar(k, mean, error, fmt="o", color="#d55e00", capsize=2)
    place.set_yscale("log")
    place.annotate("$k=10$: 1.24e-5", (10, PRINTED), (8, 4), textcoords="offset points")
    place.annotate("formula", (13, 1.2e-8), (6, 4), textcoords="offset points")
    place.annotate("simulated", (4.2, 0.26), (6, 2), textcoords="offset points", color="#d55e00")
    place.set_xlabel("number of arms $k$")
    place.set_ylabel("probability")
    return figure


def _number(found: Found) -> dict[str, Evidence]:
    off = abs(float(similar_order_probability(10)) - PRINTED)
    return {"": all_of([exactly("half a digit minus the distance from 1.24e-5", PLACES - off)])}


def _formula(found: Found) -> dict[str, Evidence]:
    record = found.at()
    pairs = [(k, record.total(label)) for k, label in zip(SIMULATED, record.labels, strict=True)]
    return {
        "": all_of(
            estimate(f"k = {k}: {name}", sign * (hits - p) + TOLERANCE * p)
            for k, hits in pairs
            for p in [float(similar_order_probability(k))]
            for sign, name in ((1.0, "above 90%"), (-1.0, "below 110%"))
        )
    }


CLAIMS = (
    Claim(
        id="similar-orders-rare",
        where="Section 2.1, last paragraph; Appendix F",
        words="Two random orders of 10 arms differ in just two places with probability 1.24e-5.",
        statistic="half a unit of the last digit minus the distance from 1.24e-5",
        test=_number,
    ),
    Claim(
        id="similar-orders-formula",
        where="Appendix F, Observation",
        words="The probability is C(k, 2) / (k! - 1).",
        statistic="10% of the formula minus the distance of the simulated share, for k = 3 to 6",
        test=_formula,
    ),
)

EXPERIMENT = Experiment(
    name="rarity",
    place="Section 2.1; Appendix F",
    title="How rarely two random orders differ in just two positions",
    work=(
        Survey(
            name="pairs",
            measure=similar_pairs,
            options={
                "tiny": {"arms": SIMULATED, "n_pairs": 2_000},
                "default": {"arms": SIMULATED, "n_pairs": 100_000},
                "full": {"arms": SIMULATED, "n_pairs": 400_000},
            },
        ),
    ),
    draw=draw,
    claims=CLAIMS,
    value="share of pairs",
)
