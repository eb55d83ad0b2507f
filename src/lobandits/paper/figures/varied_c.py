"""Beyond the paper: what c, the sigma that policies are told, changes; the paper has c = sigma."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits.paper.drawing import Canvas
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures import movielens_task, synthetic_task
from lobandits.paper.figures.movielens_task import SETTING_A, SETTING_B
from lobandits.paper.parts import Record, Records
from lobandits.paper.parts.policies import C_VALUES, policy_title
from lobandits.simulation.regret_plot import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STATES = 60
OTHER = tuple(C_VALUES.values())
WORK = (
    synthetic_task.sweep(n_states=(15,)),
    synthetic_task.sweep(policies=synthetic_task.HAVE_C, n_states=(15,), c=OTHER),
    movielens_task.sweep(n_states=(STATES,), alpha=(SETTING_A, SETTING_B)),
    movielens_task.sweep(
        n_states=(STATES,), alpha=(SETTING_A, SETTING_B), policies=movielens_task.HAVE_C, c=OTHER
    ),
)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw a row for each policy: its regret with half of c, with c, and with twice c."""
    tasks = {f"synthetic, $\\sigma={s:g}$": {"sigma": s} for s in synthetic_task.SIGMAS}
    tasks |= {"MovieLens A": {"alpha": SETTING_A}, "MovieLens B": {"alpha": SETTING_B}}
    panels = canvas.panels(len(tasks), high=2.6)
    for panel, (title, at) in zip(panels, tasks.items(), strict=True):
        by_c = {c: records.at(**at, c=c) for c in OTHER} | {1.0: records.at(**at)}
        _draw_rows(panel, dict(sorted(by_c.items())))
        panel.set_title(title)


def _draw_rows(panel: "Axes", by_c: dict[float, Record]) -> None:
    labels = next(iter(by_c.values())).labels
    for row, (label, style) in enumerate(line_styles(labels).items()):
        ends = [record.curve(label) for record in by_c.values()]
        mean, error = np.transpose([(m[-1], e[-1]) for m, e in ends])
        color = style["color"]
        panel.plot(mean, np.full(len(mean), row), "-", color=color, linewidth=0.8)
        for x, e, size, face in zip(mean, error, (3, 6, 9), ("none", color, "none"), strict=True):
            panel.errorbar(x, row, xerr=e, fmt="o", ms=size, color=color, mfc=face, capsize=2)
    panel.set_yticks(range(len(labels)), [policy_title(label) for label in labels])
    panel.invert_yaxis()
    panel.set(xlim=(0, None), xlabel="regret (small: c = sigma/2, large: 2 sigma)")


EXPERIMENT = Experiment(
    name="varied-c",
    place="Beyond the paper, which has c = sigma",
    title="Synthetic and MovieLens: what c changes, from half of sigma to twice sigma",
    note="Synthetic: 15 arms, 15 states, T = 500. MovieLens: 60 states, sigma = 2, T = 4000. The "
    "filled dot is the paper's c.",
    work=WORK,
    draw=draw,
)
