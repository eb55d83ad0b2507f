"""The picture of an evaluation: what policies earn, and gains with their intervals."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits._plots import plain
from lobandits.simulation.regret_plot import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.evaluation.report import Evaluation


def plot_evaluation(report: "Evaluation") -> "Figure":
    """Draw the reward per decision by round, and the best candidate's gains over its rivals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    _plot_rewards(report, left)
    _plot_gains(report, right)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    return figure


def _plot_rewards(report: "Evaluation", axes: "Axes") -> None:
    for policy, style in line_styles(report.curves).items():
        curve = report.curves[policy] / np.arange(1, len(report.curves[policy]) + 1)
        axes.plot(
            np.arange(1, len(curve) + 1), curve, **style | {"marker": ""}, label=plain(policy)
        )
    logged = report.rewards["logs"][..., 0].mean() / report.points[0]
    axes.axhline(logged, color="0.5", linewidth=1, linestyle=":", label="logs")
    axes.set(xlabel="decisions", ylabel=f"{report.reward} per decision so far")


def _plot_gains(report: "Evaluation", axes: "Axes") -> None:
    policy = report.decisive.policy
    axes.axhline(0, color="0.5", linewidth=1)
    styles = line_styles(report.rivals)
    for i, rival in enumerate(report.rivals):
        gains = [report.gain(policy, rival, rounds) for rounds in report.points]
        places = np.arange(len(gains)) + 0.12 * (i - (len(report.rivals) - 1) / 2)
        per = np.array([(g.mean, g.low, g.high) for g in gains]) / np.array(report.points)[:, None]
        sides = np.abs(per[:, 1:].T - per[:, 0])
        look = {"color": styles[rival]["color"], "marker": "o", "markersize": 4, "capsize": 2}
        axes.errorbar(places, per[:, 0], sides, linestyle="", label=f"over {plain(rival)}", **look)
    axes.set_xticks(range(len(report.points)), [str(p) for p in report.points])
    axes.set(xlabel="decisions", ylabel=f"gain of {plain(policy)} in {report.reward} per decision")
