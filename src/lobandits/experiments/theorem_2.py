"""Theorem 2: lobUCB's guarantee against its regret."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import Claim, Evidence, all_of, estimate
from lobandits.experiments.design import SIGMAS, Experiment, Found, Survey
from lobandits.experiments.draw import Canvas
from lobandits.orders import UserOrders
from lobandits.simulation import Synthetic, simulate
from lobandits.theory import lobucb_regret_bound

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HORIZON = 500
NAMES = {"printed": "constants of the printed proof", "corrected": "corrected constants"}


def bounds_and_regret(n_users: int, seed: int) -> dict[str, FloatArray]:
    """Return lobUCB's regret and both bounds on it, for 15 arms and 15 states."""
    found: dict[str, FloatArray] = {}
    for sigma in SIGMAS:
        env = Synthetic(sigma=sigma)
        result = simulate(env, ["lobucb"], HORIZON, n_users, seed, workers=1, progress=False)
        problems = env.sample(n_users, seed)
        assert isinstance(problems.orders, UserOrders)
        found[f"regret, sigma = {sigma:g}"] = result.totals["lobucb"]
        for constant in NAMES:
            bounds = [
                lobucb_regret_bound(m, problems.orders[u], sigma, HORIZON, constant=constant)
                for u, m in enumerate(problems.means)
            ]
            name = f"{constant} bound, sigma = {sigma:g}"
            found[name] = np.array([bound.regret for bound in bounds])
    return found


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw regret beside its bounds."""
    figure, (place,) = canvas.panels(1, high=2.2)
    record = found.at()
    for row, label in enumerate(record.labels):
        (mean,), (error,) = record.curve(label)
        color = "#e69f00" if label.startswith("regret") else "#8c8c8c"
        place.barh(row, mean, xerr=error, color=color, height=0.6)
        place.annotate(f"{mean:,.0f}", (mean, row), (5, 0), textcoords="offset points",
                       va="center", fontsize=8)  # fmt: skip
    place.set_yticks(range(len(record.labels)), list(record.labels))
    place.invert_yaxis()
    place.set_xscale("log")
    place.margins(x=0.15)
    place.set_xlabel(f"cumulative regret at $T={HORIZON}$")
    return figure


def _bounded(found: Found) -> dict[str, Evidence]:
    record = found.at()
    return {
        f"sigma = {sigma:g}, {name}": all_of(
            [
                estimate(
                    "bound minus regret",
                    record.total(f"{constant} bound, sigma = {sigma:g}")
                    - record.total(f"regret, sigma = {sigma:g}"),
                )
            ]
        )
        for sigma in SIGMAS
        for constant, name in NAMES.items()
    }


CLAIMS = (
    Claim(
        id="lobucb-bound",
        where="Theorem 2 (Section 3.1), proof in Appendix A",
        words="lobUCB's expected regret stays below the bound of the theorem.",
        statistic="bound minus lobUCB's regret at T = 500, by user",
        test=_bounded,
    ),
)

EXPERIMENT = Experiment(
    name="theorem-2",
    place="Theorem 2 (Section 3.1)",
    title="lobUCB's regret against its guarantee",
    note="Synthetic, 15 arms, 15 states.",
    work=(
        Survey(
            name="bounds",
            measure=bounds_and_regret,
            options={
                "tiny": {"n_users": 8},
                "default": {"n_users": 100},
                "full": {"n_users": 400},
            },
        ),
    ),
    draw=draw,
    claims=CLAIMS,
)
