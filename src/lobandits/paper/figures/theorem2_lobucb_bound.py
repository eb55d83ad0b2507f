"""Theorem 2, Section 3.1: lobUCB's regret against its guarantee."""

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.orders import UserOrders
from lobandits.paper.claims import Claim, Estimate, estimate, for_each
from lobandits.paper.drawing import Canvas, remark
from lobandits.paper.experiment import Experiment, Survey
from lobandits.paper.figures.synthetic_task import SIGMAS
from lobandits.paper.parts import Records
from lobandits.simulation import Synthetic, simulate
from lobandits.theory import lobucb_regret_bound

HORIZON = 500
CONSTANTS = {"printed": "constants of the printed proof", "corrected": "corrected constants"}


def bounds_and_regret(sigmas: tuple[float, ...], n_users: int, seed: int) -> dict[str, FloatArray]:
    """Return lobUCB's regret and both bounds on it, for 15 arms and 15 states."""
    found: dict[str, FloatArray] = {}
    for sigma in sigmas:
        env = Synthetic(sigma=sigma)
        result = simulate(env, ["lobucb"], HORIZON, n_users, seed, workers=1, progress=False)
        problems = env.sample(n_users, seed)
        assert isinstance(problems.orders, UserOrders)
        found[f"regret, sigma = {sigma:g}"] = result.totals["lobucb"]
        for constant in CONSTANTS:
            bounds = [
                lobucb_regret_bound(m, problems.orders[u], sigma, HORIZON, constant=constant)
                for u, m in enumerate(problems.means)
            ]
            name = f"{constant} bound, sigma = {sigma:g}"
            found[name] = np.array([bound.regret for bound in bounds])
    return found


WORK = (
    Survey(
        name="bounds",
        measure=bounds_and_regret,
        options={
            "tiny": {"sigmas": SIGMAS, "n_users": 8},
            "default": {"sigmas": SIGMAS, "n_users": 100},
            "full": {"sigmas": SIGMAS, "n_users": 400},
        },
    ),
)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw regret and bounds as bars."""
    (panel,) = canvas.panels(1, high=2.2)
    record = records.at()
    for row, label in enumerate(record.labels):
        (mean,), (error,) = record.curve(label)
        color = "#e69f00" if label.startswith("regret") else "#8c8c8c"
        panel.barh(row, mean, xerr=error, color=color, height=0.6)
        remark(panel, f"{mean:,.0f}", (mean, row), (5, 0), va="center", fontsize=8)
    panel.set_yticks(range(len(record.labels)), list(record.labels))
    panel.invert_yaxis()
    panel.set(xscale="log", xmargin=0.15, xlabel=f"cumulative regret at $T={HORIZON}$")


def _bounded(records: Records, sigma: float, constant: str) -> list[Estimate]:
    record = records.at()
    bound = record.total(f"{constant} bound, sigma = {sigma:g}")
    return [estimate("bound minus regret", bound - record.total(f"regret, sigma = {sigma:g}"))]


CLAIMS = (
    Claim(
        id="lobucb-bound",
        where="Theorem 2 (Section 3.1), proof in Appendix A",
        words="lobUCB's expected regret stays below the bound of the theorem.",
        statistic="bound minus lobUCB's regret at T = 500, by user",
        test=for_each(
            {
                f"sigma = {sigma:g}, {name}": (sigma, constant)
                for sigma in SIGMAS
                for constant, name in CONSTANTS.items()
            },
            _bounded,
        ),
    ),
)

EXPERIMENT = Experiment(
    name="theorem-2",
    place="Theorem 2 (Section 3.1)",
    title="lobUCB's regret against its guarantee",
    note="Synthetic, 15 arms, 15 states.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
