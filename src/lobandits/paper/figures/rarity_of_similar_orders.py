"""Section 2.1 and Appendix F: how rarely two random orders differ in just two positions."""

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.paper.claims import (
    NO_VARIANTS,
    Claim,
    Estimate,
    estimate,
    exactly,
    for_each,
)
from lobandits.paper.drawing import INK, Canvas, remark
from lobandits.paper.experiment import Experiment, Survey
from lobandits.paper.parts import Records
from lobandits.theory import similar_order_probability

ARMS = (3, 4, 5, 6)
"""Numbers of arms for which pairs are drawn; with more, none would be similar."""
PRINTED, HALF_A_DIGIT = 1.24e-5, 0.005e-5
"""The paper's number for k = 10, and half a unit of its last digit."""


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


WORK = (
    Survey(
        name="pairs",
        measure=similar_pairs,
        options={
            "tiny": {"arms": ARMS, "n_pairs": 2_000},
            "default": {"arms": ARMS, "n_pairs": 100_000},
            "full": {"arms": ARMS, "n_pairs": 400_000},
        },
    ),
)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw the formula, and the shares that were simulated."""
    (panel,) = canvas.panels(1)
    arms = range(3, 16)
    panel.plot(arms, [float(similar_order_probability(k)) for k in arms], color=INK, marker=".")
    for k in ARMS:
        (mean,), (error,) = records.at().curve(f"k = {k}")
        panel.errorbar(k, mean, error, fmt="o", color="#d55e00", capsize=2)
    remark(panel, "$k=10$: 1.24e-5", (10, PRINTED), (8, 4))
    remark(panel, "formula", (13, 1.2e-8), (6, 4))
    remark(panel, "simulated", (4.2, 0.26), (6, 2), color="#d55e00")
    panel.set(yscale="log", xlabel="number of arms $k$", ylabel="probability")


def _as_printed(records: Records) -> list[Estimate]:
    off = abs(float(similar_order_probability(10)) - PRINTED)
    return [exactly("half a digit minus the distance from 1.24e-5", HALF_A_DIGIT - off)]


def _as_simulated(records: Records) -> list[Estimate]:
    return [
        estimate(f"k = {k}: {name}", sign * (records.at().total(f"k = {k}") - p) + 0.1 * p)
        for k in ARMS
        for p in [float(similar_order_probability(k))]
        for sign, name in ((1.0, "above 90%"), (-1.0, "below 110%"))
    ]


CLAIMS = (
    Claim(
        id="similar-orders-rare",
        where="Section 2.1, last paragraph; Appendix F",
        words="Two random orders of 10 arms differ in just two places with probability 1.24e-5.",
        statistic="half a unit of the last digit minus the distance from 1.24e-5",
        test=for_each(NO_VARIANTS, _as_printed),
    ),
    Claim(
        id="similar-orders-formula",
        where="Appendix F, Observation",
        words="The probability is C(k, 2) / (k! - 1).",
        statistic="10% of the formula minus the distance of the simulated share, for k = 3 to 6",
        test=for_each(NO_VARIANTS, _as_simulated),
    ),
)

EXPERIMENT = Experiment(
    name="rarity",
    place="Section 2.1; Appendix F",
    title="How rarely two random orders differ in just two positions",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
    value="share of pairs",
    unit="pairs",
)
