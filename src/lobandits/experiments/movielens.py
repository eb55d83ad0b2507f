"""What the MovieLens experiments share."""

from collections.abc import Sequence
from typing import Any

from lobandits.experiments.design import MOVIELENS_POLICIES, NARROW_TENTH, TENTH, Found, Sweep
from lobandits.experiments.draw import Canvas, draw_curves

USERS = {"default": 100, "full": 100}
HORIZON = 4000
SHOWN = ("ucb", "ts", "mucb", "mts", TENTH[0], NARROW_TENTH, TENTH[1])
WELL, RAW = 0.0, 1.0
"""Alpha of Setting A, where the orders hold, and of Setting B, the users' own means."""
LOW, HIGH = 0.75, 1.0
"""The late phase: the last quarter of the rounds."""


def sweep(
    horizon: int = HORIZON,
    *,
    n_states: Sequence[int],
    alpha: Sequence[float],
    hold_out: Sequence[float] = (0.0,),
) -> Sweep:
    """Return the MovieLens task over the number of states, alpha, and users held out."""
    return Sweep(
        environment="movielens",
        axes={"n_states": n_states, "alpha": alpha, "hold_out": hold_out},
        fixed={"sigma": 2.0},
        policies=MOVIELENS_POLICIES,
        horizon=horizon,
        users=USERS,
    )


def draw_states(found: Found, canvas: Canvas, slope: bool) -> Any:
    """Draw a panel for each number of states: regret so far, or per round."""
    states = found.axis("n_states")
    columns = max(len(states), 2)
    figure, axes = canvas.panels(len(states), columns, wide=8.4 / columns)
    for place, m in zip(axes, states, strict=True):
        record = found.at(n_states=m)
        draw_curves(place, record, SHOWN, slope)
        window = int(record.points[0])
        place.set_ylabel(f"regret per round (mean of {window})" if slope else "cumulative regret")
        place.set_title(f"$m={m}$ states")
    return figure
