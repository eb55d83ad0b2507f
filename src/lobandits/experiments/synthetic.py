"""What the synthetic experiments share: the paper's task, and sizes."""

from collections.abc import Mapping, Sequence
from typing import Any

from lobandits.experiments.design import FIRST, NARROW, SIGMAS, SYNTHETIC_POLICIES, Found, Sweep
from lobandits.experiments.draw import Canvas, draw_curves, draw_ends

USERS = {"default": 300, "full": 1000}
HORIZON = 500
TASK = {"n_arms": 15, "n_states": 15, "q": 1.0}
"""k = m = 15 with all relations, where the paper does not say otherwise."""
SHOWN = ("ucb", "ts", "mucb", "mts", FIRST, "lobucb", NARROW, "lobts")


def sweep(**axes: Sequence[Any] | Mapping[str, Sequence[Any]]) -> Sweep:
    """Return the synthetic task at both sigmas, over the axes."""
    return Sweep(
        environment="synthetic",
        axes={"sigma": SIGMAS, **axes},
        fixed={name: value for name, value in TASK.items() if name not in axes},
        policies=SYNTHETIC_POLICIES,
        horizon=HORIZON,
        users=USERS,
    )


def draw_sweep(found: Found, canvas: Canvas, axis: str, name: str) -> Any:
    """Draw regret at the horizon against an axis, one panel for each sigma."""
    figure, axes = canvas.panels(len(SIGMAS))
    for place, sigma in zip(axes, SIGMAS, strict=True):
        records = found.along(axis, sigma=sigma)
        draw_ends(place, records, SHOWN)
        place.set_xlabel(name)
        place.set_ylabel(f"cumulative regret at $T={next(iter(records.values())).horizon}$")
        place.set_title(f"$\\sigma={sigma:g}$")
    return figure


def draw_horizon(found: Found, canvas: Canvas, axis: str, name: str, columns: int = 2) -> Any:
    """Draw cumulative regret against the round, one row of panels for each sigma."""
    places = [(sigma, value) for sigma in SIGMAS for value in found.axis(axis)]
    figure, axes = canvas.panels(len(places), columns, wide=8.4 / columns)
    for place, (sigma, value) in zip(axes, places, strict=True):
        draw_curves(place, found.at(**{"sigma": sigma, axis: value}), SHOWN)
        place.set_ylabel("cumulative regret")
        place.set_title(f"$\\sigma={sigma:g}$, ${name}={value}$")
    return figure
