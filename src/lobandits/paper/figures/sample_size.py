"""Appendix G: how many rewards of each arm from each user make all users' orders exact."""

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.paper.claims import Claim, Estimate, for_each, share
from lobandits.paper.drawing import INK, Canvas, remark
from lobandits.paper.experiment import Experiment, Survey
from lobandits.paper.parts import Records
from lobandits.theory import samples_for_exact_orders

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


WORK = (
    Survey(
        name="trials",
        measure=exact_orders,
        options={
            "tiny": {"n_rewards": tuple(SIZES.values()), "n_trials": 20},
            "default": {"n_rewards": GRID, "n_trials": 300},
            "full": {"n_rewards": GRID, "n_trials": 1000},
        },
    ),
)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw the share of exact trials, and where the printed and the corrected size stand."""
    (panel,) = canvas.panels(1)
    record = records.at()
    mean, error = np.transpose([record.curve(label) for label in record.labels])[0]
    sizes = list(record.by_value)
    panel.errorbar(sizes, mean, error, color="#d55e00", marker="o", capsize=2)
    panel.axhline(1 - DELTA, color=INK, linewidth=0.8, linestyle=":")
    remark(panel, "promised: 95%", (sizes[0], 1 - DELTA), (0, -10))
    for (constant, n), factor in zip(SIZES.items(), (2, 8), strict=True):
        panel.axvline(n, color="#8c8c8c", linewidth=0.8, linestyle="--")
        text = f"{constant} ({factor}): {n}"
        remark(panel, text, (n, 0.4), (-4, 0), rotation=90, ha="right", va="center")
    panel.set(ylim=(0, 1.03), xlabel="rewards of each arm from each user")
    panel.set(ylabel="share of trials, all orders exact")


def _suffices(records: Records, n: int) -> list[Estimate]:
    exact = records.at().total(f"n = {n}")
    return [share("share of exact trials minus 0.95", exact, above=1 - DELTA)]


CLAIMS = (
    Claim(
        id="sample-size-suffices",
        where="Appendix G, last formula",
        words="2 sigma^2 / gap^2 log(2kN / delta) rewards per arm and user make all orders "
        "exact with probability 1 - delta.",
        statistic="share of trials in which all 1000 orders are exact minus 0.95",
        test=for_each(
            {
                "constant 2, as printed": (SIZES["printed"],),
                "constant 8, corrected": (SIZES["corrected"],),
            },
            _suffices,
        ),
    ),
)

EXPERIMENT = Experiment(
    name="sample-size",
    place="Appendix G",
    title="How many rewards make all users' orders exact",
    note="19 arms, means 0.5 apart, sigma = 1, 1000 users, delta = 0.05. Two means keep their "
    "order if both errors stay below half the gap, which makes the constant 8, not 2.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
    value="share of trials",
    unit="trials",
)
