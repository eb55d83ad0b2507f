"""Formulas of the appendices, simulated: how rare similar orders are, and how many rewards do."""

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import ONCE, Claim, Estimate, by, estimate, exactly, share
from lobandits.experiments.design import Experiment, Found, Survey
from lobandits.experiments.draw import INK, Canvas
from lobandits.theory import samples_for_exact_orders, similar_order_probability

SIMULATED = (3, 4, 5, 6)
PRINTED, PLACES = 1.24e-5, 0.005e-5
"""The paper's number for k = 10, and half a unit of its last digit."""
TOLERANCE = 0.1

SIGMA, GAP, ARMS, USERS, DELTA = 1.0, 0.5, 19, 1000, 0.05
SIZES = {
    constant: samples_for_exact_orders(SIGMA, GAP, ARMS, USERS, DELTA, constant)
    for constant in ("printed", "corrected")
}
GRID = (60, 80, SIZES["printed"], 140, 170, 200, 250, 300, SIZES["corrected"])


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


def exact_orders(n_rewards: tuple[int, ...], n_trials: int, seed: int) -> dict[str, FloatArray]:
    """Return by trial whether every user's arms, ordered by mean reward, are in their order."""
    rng = np.random.default_rng(seed)
    means = GAP * np.arange(ARMS)
    exact = {f"n = {n}": np.zeros(n_trials) for n in n_rewards}
    for trial in range(n_trials):
        errors = rng.normal(scale=SIGMA, size=(USERS, ARMS))
        for n in n_rewards:
            rises = np.diff(means + errors / np.sqrt(n), axis=1) > 0
            exact[f"n = {n}"][trial] = rises.all()
    return exact


def draw_rarity(found: Found, canvas: Canvas) -> None:
    """Draw the formula, and what was simulated."""
    (place,) = canvas.panels(1)
    arms = range(3, 16)
    place.plot(arms, [float(similar_order_probability(k)) for k in arms], color=INK, marker=".")
    for k in SIMULATED:
        (mean,), (error,) = found.at().curve(f"k = {k}")
        place.errorbar(k, mean, error, fmt="o", color="#d55e00", capsize=2)
    place.set_yscale("log")
    place.annotate("$k=10$: 1.24e-5", (10, PRINTED), (8, 4), textcoords="offset points")
    place.annotate("formula", (13, 1.2e-8), (6, 4), textcoords="offset points")
    place.annotate("simulated", (4.2, 0.26), (6, 2), textcoords="offset points", color="#d55e00")
    place.set_xlabel("number of arms $k$")
    place.set_ylabel("probability")


def draw_sample_size(found: Found, canvas: Canvas) -> None:
    """Draw the share of trials without an error, and both sample sizes."""
    (place,) = canvas.panels(1)
    record = found.at()
    mean, error = np.transpose([record.curve(label) for label in record.labels])[0]
    sizes = [int(label.split("=")[1]) for label in record.labels]
    place.errorbar(sizes, mean, error, color="#d55e00", marker="o", capsize=2)
    place.axhline(1 - DELTA, color=INK, linewidth=0.8, linestyle=":")
    place.annotate("promised: 95%", (sizes[0], 1 - DELTA), (0, -10), textcoords="offset points")
    for (constant, n), factor in zip(SIZES.items(), (2, 8), strict=True):
        place.axvline(n, color="#8c8c8c", linewidth=0.8, linestyle="--")
        place.annotate(f"{constant} ({factor}): {n}", (n, 0.4), (-4, 0), rotation=90, ha="right",
                       textcoords="offset points", va="center")  # fmt: skip
    place.set_ylim(0, 1.03)
    place.set_xlabel("rewards of each arm from each user")
    place.set_ylabel("share of trials, all orders exact")


def _number(found: Found) -> list[Estimate]:
    off = abs(float(similar_order_probability(10)) - PRINTED)
    return [exactly("half a digit minus the distance from 1.24e-5", PLACES - off)]


def _formula(found: Found) -> list[Estimate]:
    return [
        estimate(f"k = {k}: {name}", sign * (found.at().total(f"k = {k}") - p) + TOLERANCE * p)
        for k in SIMULATED
        for p in [float(similar_order_probability(k))]
        for sign, name in ((1.0, "above 90%"), (-1.0, "below 110%"))
    ]


def _exact(found: Found, n: int) -> list[Estimate]:
    exact = found.at().total(f"n = {n}")
    return [share("share of exact trials minus 0.95", exact, above=1 - DELTA)]


RARITY = Experiment(
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
    draw=draw_rarity,
    claims=(
        Claim(
            id="similar-orders-rare",
            where="Section 2.1, last paragraph; Appendix F",
            words="Two random orders of 10 arms differ in just two places with probability "
            "1.24e-5.",
            statistic="half a unit of the last digit minus the distance from 1.24e-5",
            test=by(ONCE, _number),
        ),
        Claim(
            id="similar-orders-formula",
            where="Appendix F, Observation",
            words="The probability is C(k, 2) / (k! - 1).",
            statistic="10% of the formula minus the distance of the simulated share, for k = 3 "
            "to 6",
            test=by(ONCE, _formula),
        ),
    ),
    value="share of pairs",
)

SAMPLE_SIZE = Experiment(
    name="sample-size",
    place="Appendix G",
    title="How many rewards make all users' orders exact",
    note="19 arms, means 0.5 apart, sigma = 1, 1000 users, delta = 0.05. Two means keep their "
    "order if both errors stay below half the gap, which makes the constant 8, not 2.",
    work=(
        Survey(
            name="trials",
            measure=exact_orders,
            options={
                "tiny": {"n_rewards": tuple(SIZES.values()), "n_trials": 20},
                "default": {"n_rewards": GRID, "n_trials": 300},
                "full": {"n_rewards": GRID, "n_trials": 1000},
            },
        ),
    ),
    draw=draw_sample_size,
    claims=(
        Claim(
            id="sample-size-suffices",
            where="Appendix G, last formula",
            words="2 sigma^2 / gap^2 log(2kN / delta) rewards per arm and user make all orders "
            "exact with probability 1 - delta.",
            statistic="share of trials in which all 1000 orders are exact minus 0.95",
            test=by(
                {
                    "constant 2, as printed": (SIZES["printed"],),
                    "constant 8, corrected": (SIZES["corrected"],),
                },
                _exact,
            ),
        ),
    ),
    value="share of trials",
)
