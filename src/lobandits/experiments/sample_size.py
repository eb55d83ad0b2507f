"""How many rewards make all users' orders exact."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import Claim, Evidence, all_of, share
from lobandits.experiments.design import Experiment, Found, Survey
from lobandits.experiments.draw import INK, Canvas
from lobandits.theory import samples_for_exact_orders

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIGMA, GAP, ARMS, USERS, DELTA = 1.0, 0.5, 19, 1000, 0.05
SIZES = {
    constant: samples_for_exact_orders(SIGMA, GAP, ARMS, USERS, DELTA, constant)
    for constant in ("printed", "corrected")
}
GRID = (60, 80, SIZES["printed"], 140, 170, 200, 250, 300, SIZES["corrected"])


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


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw the share of trials without an error, and both sample sizes."""
    figure, (place,) = canvas.panels(1)
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
    return figure


def _exact(found: Found) -> dict[str, Evidence]:
    record = found.at()
    names = {"printed": "constant 2, as printed", "corrected": "constant 8, corrected"}
    return {
        names[constant]: all_of(
            [share("share of exact trials minus 0.95", record.total(f"n = {n}"), above=1 - DELTA)]
        )
        for constant, n in SIZES.items()
    }


CLAIMS = (
    Claim(
        id="sample-size-suffices",
        where="Appendix G, last formula",
        words="2 sigma^2 / gap^2 log(2kN / delta) rewards per arm and user make all orders exact "
        "with probability 1 - delta.",
        statistic="share of trials in which all 1000 orders are exact minus 0.95",
        test=_exact,
    ),
)

EXPERIMENT = Experiment(
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
    draw=draw,
    claims=CLAIMS,
    value="share of trials",
)
