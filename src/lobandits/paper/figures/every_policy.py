"""Beyond the paper: every policy on users held out, after 10 to 4000 rounds."""

from typing import TYPE_CHECKING

from lobandits.paper.drawing import Canvas, draw_band, label_lines
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.movielens_task import SETTING_A, SETTING_B, sweep
from lobandits.paper.parts import Record, Records
from lobandits.paper.parts.policies import FROM_LOGS, LOBUCB_NARROW_TENTH, TOP_ARMS, TS_BY_ARM
from lobandits.simulation.regret_plot import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROUNDS = (10, 30, 100, 300, 500, 1000, 2000, 4000)
EVERY = (
    *("ucb", TOP_ARMS, "ts", TS_BY_ARM, "mucb", "mts", "lobucb", LOBUCB_NARROW_TENTH, "lobts"),
    *("lobimed", "lobids", *FROM_LOGS),
)
SETTINGS = {"users' own means (B)": SETTING_B, "orders hold (A)": SETTING_A}
WORK = (
    sweep(
        n_states=(20,),
        alpha=tuple(SETTINGS.values()),
        hold_out=(0.5,),
        policies=EVERY,
        rounds=ROUNDS,
        users=10,
    ),
)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw regret against the round, relative to that of TS, which knows nothing."""
    panels = canvas.panels(len(SETTINGS), high=4.2)
    for panel, (title, alpha) in zip(panels, SETTINGS.items(), strict=True):
        _draw_all(panel, records.at(alpha=alpha))
        panel.set_title(title)


def _draw_all(panel: "Axes", record: Record) -> None:
    unit, _ = record.curve("ts")
    for label, style in line_styles(EVERY).items():
        mean, error = record.curve(label)
        draw_band(panel, record.points, mean / unit, error / unit, style)
    panel.set(xscale="log", xlim=(record.points[0], record.horizon), ylim=(0, 2))
    panel.set(xlabel="round $t$", ylabel="cumulative regret over that of TS")
    label_lines(panel, EVERY)


EXPERIMENT = Experiment(
    name="every-policy",
    place="Beyond the paper",
    title="MovieLens: every policy on users who taught nothing, T = 10 to 4000",
    note="Half of the users teach 20 states, and with 60 rewards each a prior (Popular, MixTS, "
    "LobBayes); the others play. sigma = 2. lobTS projects every round.",
    work=WORK,
    draw=draw,
)
