"""The synthetic task of Section 4.1, at both sigmas, and what its figures share."""

from collections.abc import Mapping, Sequence
from typing import Any

from lobandits.paper.drawing import Canvas, draw_final_regret, draw_regret
from lobandits.paper.experiment import Sweep
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import (
    LOBUCB_NARROW,
    MTS_BEST_FIRST,
    MTS_VARIANTS,
    MUCB_TIES,
    PAPER_POLICIES,
    TOP_ARMS,
)

SIGMAS = (1.0, 5.0)
"""The text has 1, the appendix 5."""
TASK = {"n_arms": 15, "n_states": 15, "q": 1.0}
"""k = m = 15 with all relations, where the paper does not say otherwise."""
SHOWN = (*("ucb", TOP_ARMS, "ts", "mucb", "mts"), MTS_BEST_FIRST, "lobucb", LOBUCB_NARROW, "lobts")
HAVE_C = (*PAPER_POLICIES, LOBUCB_NARROW, TOP_ARMS)
STRUCTURE = "Section 4.1, 'Latent order bandits benefit from structure', "
"""Where most of its claims stand."""

AT_SIGMA = {f"sigma = {sigma:g}": (sigma,) for sigma in SIGMAS}
"""Variants of a claim, and below those of claims about both lobUCB and lobTS, and about mTS."""
LOB_AT_SIGMA = {
    f"{name}, {at}": (*sigma, lob)
    for at, sigma in AT_SIGMA.items()
    for name, lob in {
        "lobUCB": "lobucb",
        "lobUCB with UCB's radius": LOBUCB_NARROW,
        "lobTS": "lobts",
    }.items()
}
MTS_AT_SIGMA = {
    f"{at}{option}": (*sigma, mts)
    for at, sigma in AT_SIGMA.items()
    for option, mts in MTS_VARIANTS.items()
}


def sweep(
    policies: tuple[str, ...] = (
        *(*PAPER_POLICIES, MTS_BEST_FIRST, LOBUCB_NARROW, TOP_ARMS, MUCB_TIES),
    ),
    task: Mapping[str, Any] = TASK,
    **axes: Sequence[Any] | Mapping[str, Sequence[Any]],
) -> Sweep:
    """Return the task at both sigmas, over the axes."""
    return Sweep(
        environment="synthetic",
        axes={"sigma": SIGMAS, **axes},
        fixed={name: value for name, value in task.items() if name not in axes},
        policies=policies,
        horizon=500,
        users={"default": 300, "full": 1000},
    )


def draw_regret_by_states(records: Records, canvas: Canvas, columns: int) -> None:
    """Draw regret against the round, a panel for each sigma and number of states."""
    panels = {
        f"$\\sigma={sigma:g}$, $m={m}$": record
        for sigma in SIGMAS
        for m, record in records.along("n_states", sigma=sigma).items()
    }
    draw_regret(canvas, panels, SHOWN, columns)


def draw_final_regret_along(records: Records, canvas: Canvas, axis: str, name: str) -> None:
    """Draw the regret at the horizon against the values of an axis, a panel for each sigma."""
    panels = canvas.panels(len(SIGMAS))
    for panel, sigma in zip(panels, SIGMAS, strict=True):
        draw_final_regret(panel, records.along(axis, sigma=sigma), SHOWN, name)
        panel.set_title(f"$\\sigma={sigma:g}$")
