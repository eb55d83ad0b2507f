"""Regret over rounds, as a picture."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits.errors import LobInputError
from lobandits.simulation.colours import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.simulation.result import Result

BAND = 2.0
"""Half the height of a band, in standard errors."""
OUTSIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
"""Where the legend of a figure of our own stands: to the right of the curves."""


def plot_regret(
    result: "Result", ax: "Axes | None", bound: bool, cumulative: bool, window: int
) -> "Figure":
    """Draw a result; see :meth:`lobandits.simulation.Result.plot`."""
    if bound and not cumulative:
        raise LobInputError("the lower bound is on cumulative regret; plot that, or bound=False")
    axes = _new_axes() if ax is None else ax
    rounds = np.arange(1, result.horizon + 1)
    for policy, style in line_styles(result.policies).items():
        mean, error = (
            result.cumulative(policy) if cumulative else result.instantaneous(policy, window)
        )
        name, style = policy.replace("$", r"\$"), style | {"marker": ""}
        (line,) = axes.plot(rounds, mean, label=name, linewidth=1.6, **style)
        if result.n_users > 1:
            low, high = mean - BAND * error, mean + BAND * error
            axes.fill_between(rounds, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    if bound:
        floor = result.lower_bound() * np.log(rounds)
        axes.plot(rounds, floor, "k--", linewidth=1.2, label="lower bound $c$ log $t$")
    _label(axes, result, cumulative, window)
    axes.legend(frameon=False, **(OUTSIDE if ax is None else {}))
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def _new_axes() -> "Axes":
    from matplotlib.figure import Figure

    return Figure(figsize=(7.6, 4.2), layout="constrained").add_subplot()


def _label(axes: "Axes", result: "Result", cumulative: bool, window: int) -> None:
    what = "cumulative regret" if cumulative else "regret"
    over = f", mean of the last {window} rounds" if window > 1 and not cumulative else ""
    axes.set_xlabel("round")
    axes.set_ylabel(f"{what}{over}")
    axes.set_title(f"Mean of {result.n_users:,} users, ± {BAND:g} standard errors", fontsize=10)
    axes.set_xlim(1, max(result.horizon, 2))
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
