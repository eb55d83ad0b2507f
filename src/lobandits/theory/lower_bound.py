"""What any good policy must pay, why, and for which arms; and a picture of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray, whole
from lobandits.basics.plots import plain
from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class LowerBound:
    """Regret of at least ``constant`` * log T, asymptotically, for every uniformly good policy.

    Attributes
    ----------
    kind
        ``"lob"`` (orders known), ``"lb"`` (states' means known) or ``"mab"`` (nothing known).
    constant
        Regret per log T: the sum of ``allocation`` times the gaps.
    allocation
        (k,) plays per log T that each arm needs for information; the best arm has 0.
    gap, rounds
        The exact constant is certified to be at least (1 - gap) * ``constant``, by so many linear
        programs.
    note
        Where the bound comes from, or why it is 0.
    means, arms
        The instance, and its arms' names.
    state, top, instance
        The state that accounts for most of the bound, if any; the arm that is best in it; and its
        closest confusing instance lambda (k,), in the limit where ``top`` meets the best arm.
    """

    kind: str
    constant: float
    allocation: FloatArray
    gap: float
    rounds: int
    note: str
    means: FloatArray
    arms: tuple[str, ...]
    state: int | None = None
    top: int | None = None
    instance: FloatArray | None = None

    def regret(self, horizon: int) -> float:
        """Return constant * log(horizon), the bound's leading term."""
        return self.constant * math.log(whole("horizon", horizon))

    def plot(self) -> "Figure":
        """Draw the means against the closest confusing instance, and the allocation."""
        return plot_bounds([self])

    def __str__(self) -> str:
        lines = [f"{self.kind.upper()} lower bound: regret >= {self.constant:.4g} log T", self.note]
        played = [a for a in (-self.allocation).argsort(kind="stable") if self.allocation[a] > 0]
        if played:
            plays = ", ".join(f"{self.arms[a]} {self.allocation[a]:.3g}" for a in played)
            lines.append(f"plays per log T for information: {plays}")
        if self.instance is not None:
            pairs = zip(self.arms, self.means, self.instance, strict=True)
            moved = ", ".join(f"{arm} {mu:.4g} -> {to:.4g}" for arm, mu, to in pairs if to != mu)
            lines.append(f"closest confusing instance: {moved}")
        if self.gap > 1e-6:
            lines.append(f"certified to a relative gap of {self.gap:.1g} only")
        return "\n".join(lines)


COLOURS = {"lob": "#0072b2", "lb": "#009e73", "mab": "#b0b0b0"}
RIVAL = "#d55e00"


def plot_bounds(bounds: Sequence["LowerBound"]) -> "Figure":
    """Draw the first bound's closest confusing instance, and all bounds' prices c_a Delta_a.

    The bars of one colour add up to a constant; the numbers are the first bound's c_a.
    """
    from matplotlib.figure import Figure

    if not bounds:
        raise LobInputError("plot_bounds needs at least one bound")
    first = bounds[0]
    if any(not np.array_equal(bound.means, first.means) for bound in bounds):
        raise LobInputError("the bounds are for different means; plot them one by one")
    rows = (-first.means).argsort(kind="stable")
    figure = Figure(figsize=(11.5, 2.0 + 0.3 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_instance(left, first, rows)
    _draw_prices(right, bounds, rows)
    left.set_yticks(range(len(rows)), [plain(first.arms[a]) for a in rows])
    left.set_ylim(len(rows) - 0.5, -0.5)
    return figure


def _draw_instance(axes: "Axes", bound: "LowerBound", rows: IntArray) -> None:
    places, means = np.arange(len(rows)), bound.means[rows]
    title = "no confusing instance"
    axes.axvline(means[0], color="0.8", linewidth=1, zorder=0)
    axes.plot(means, places, "o", color="black", label="mean")
    if bound.instance is not None:
        state = "" if bound.state is None else f", state {bound.state}"
        top = "" if bound.top is None else f": {plain(bound.arms[bound.top])} best"
        title = f"closest confusing instance{state}{top}"
        to = bound.instance[rows]
        moved = to != means
        axes.hlines(places, means, to, color=RIVAL, linewidth=1.5, alpha=0.6)
        axes.plot(to[moved], places[moved], "D", color=RIVAL, mfc="white", label="confused with")
    axes.set(title=title, xlabel="mean reward", axisbelow=True)
    axes.grid(axis="y", color="0.93")
    axes.legend(loc="upper left")  # best first, so nothing is there


def _draw_prices(axes: "Axes", bounds: Sequence["LowerBound"], rows: IntArray) -> None:
    """Draw a bar per arm and bound; a bound of 0 takes no room."""
    shown = [bound for bound in bounds if bound.constant > 0]
    thick = 0.8 / max(len(shown), 1)
    gaps = (bounds[0].means.max() - bounds[0].means)[rows]
    places = np.arange(len(rows))
    for bound in bounds:
        slot = shown.index(bound) if bound in shown else 0
        bars = axes.barh(
            places + (slot + 0.5) * thick - 0.4,
            bound.allocation[rows] * gaps,
            height=thick,
            color=COLOURS[bound.kind],
            label=f"{bound.kind.upper()}: {bound.constant:.3g} log T",
        )
        if bound is bounds[0]:
            plays = [f"{c:.2g}" if c > 0 else "" for c in bound.allocation[rows]]
            axes.bar_label(bars, plays, padding=3, fontsize=8, color=COLOURS[bound.kind])
    axes.annotate("best arm: free", (0, 0), (4, 0), textcoords="offset points", va="center")
    axes.margins(x=0.15)
    axes.set_xlim(left=0)
    label = "regret per log T (numbers: plays per log T)"
    axes.set(title="price of information, by arm", xlabel=label)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
