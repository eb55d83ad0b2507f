"""The page of an evaluation, one file without anything to fetch, and its picture."""

from html import escape
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np

from lobandits.basics.page import html_page, html_table
from lobandits.basics.plots import plain
from lobandits.simulation.regret_plot import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.evaluation.report import Evaluation

TITLE = "Would it help my users?"
STYLE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 62rem; padding: 1.2rem; font: 1rem/1.5 system-ui, sans-serif; }
.verdict { font-size: 1.25rem; border-left: 4px solid #0b5cad; padding: 0.4rem 0.9rem; }
table { border-collapse: collapse; } td, th { padding: 0.15rem 0.7rem; text-align: right; }
td:first-child, th:first-child { text-align: left; } thead { border-bottom: 1px solid #888; }
figure { margin: 1rem 0; background: #fff; } figure svg { width: 100%; height: auto; }
.scroll { overflow-x: auto; } .soft { opacity: 0.75; font-size: 0.9rem; }
"""
MEANING = (
    "Users were split several times: some taught the policies, the others were judged. What a "
    "judged user likes was drawn from the user's posterior, under a prior learned from judged "
    "users alone, as one state and as several; intervals span both, unless judged users clearly "
    "refute the first. A gain counts if it is positive over everything that needs no states."
)


def evaluation_page(report: "Evaluation") -> str:
    """Return the page as HTML."""
    notes = (report.families, *report.replayed(), *report.notes)
    lines = "".join(f"<li>{escape(line)}</li>" for line in notes)
    body = [
        f"<h1>{TITLE}</h1>",
        f'<p class="verdict">{escape(report.verdict)}</p>',
        f"<figure>{_figure(report)}</figure>",
        *(_section(report, rounds) for rounds in report.points),
        f"<h2>From the logs alone, and notes</h2><ul>{lines}</ul>",
        f"<h2>The logs</h2>{html_table((), report.facts.items())}",
        f'<p class="soft">{MEANING}</p>',
    ]
    return html_page(TITLE, STYLE, body)


def _section(report: "Evaluation", rounds: int) -> str:
    """Return the table of one horizon: its rows of the summary."""
    rows = [report.row(policy, rounds) for policy in report.policies]
    gains = f"gain over {rows[0]['over']}", "gain over logs"
    lines = [
        (
            row["policy"],
            f"{row['reward']:.4g}",
            f"{row['regret']:.4g}",
            _gain_text(row["gain"], row["low"], row["high"]),
            _gain_text(row["over logs"], row["low "], row["high "]),
        )
        for row in rows
    ]
    table = html_table(("policy", report.reward, "regret", *gains), lines)
    return f"<h2>The first {rounds} decisions</h2>{table}"


def _gain_text(mean: float, low: float, high: float) -> str:
    return f"{mean:+.3g} ({low:.3g} to {high:.3g})"


def _figure(report: "Evaluation") -> str:
    text = StringIO()
    report.plot().savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


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
        total = report.curves[policy][report.standing].mean(axis=0)
        curve = total / np.arange(1, len(total) + 1)
        axes.plot(
            np.arange(1, len(curve) + 1), curve, **style | {"marker": ""}, label=plain(policy)
        )
    logged = report.rewards["logs"][:, report.standing][..., 0].mean() / report.points[0]
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
