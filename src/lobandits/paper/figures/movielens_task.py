"""The MovieLens task of Section 4.2, and what its figures share."""

from collections.abc import Sequence

from lobandits.paper.drawing import Canvas, draw_regret
from lobandits.paper.experiment import Sweep
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import (
    LATENT_BANDITS,
    LOBTS_TENTH,
    LOBUCB_NARROW_TENTH,
    LOBUCB_TENTH,
    MTS_BEST_FIRST,
    TOP_ARMS,
    TS_BY_ARM,
    UNSTRUCTURED,
)

SETTING_A, SETTING_B = 0.0, 1.0
"""Alpha where the orders hold, and where users have their own means."""
SHOWN = (
    *("ucb", TOP_ARMS, "ts", TS_BY_ARM, *LATENT_BANDITS),
    *(LOBUCB_TENTH, LOBUCB_NARROW_TENTH, LOBTS_TENTH),
)
POLICIES = (
    *(*UNSTRUCTURED, *LATENT_BANDITS, LOBUCB_TENTH, LOBTS_TENTH),
    *(MTS_BEST_FIRST, LOBUCB_NARROW_TENTH, "lobucb", "lobts", TOP_ARMS, TS_BY_ARM),
)
"""The paper's, then those that show what an option changes."""
HAVE_C = (*UNSTRUCTURED, *LATENT_BANDITS, TOP_ARMS, LOBUCB_TENTH, LOBUCB_NARROW_TENTH, LOBTS_TENTH)
FAIR_RIVALS = (TOP_ARMS, TS_BY_ARM)
"""They know which arms may be best, or what arms are like on average: less than the orders say."""
LINEAR = 0.7
"""Between the regret of rounds 3001 to 4000 over that of 1001 to 2000 if it grows in proportion
to T (1), and if it grows like log T (0.42)."""
PAPER_EDITION = "ml-20m"
"""The edition of the paper's counts."""
EXPLOITS = "Section 4.2, 'LOB exploits structure', "
ROBUST = "Section 4.2, 'LOB algorithms are robust', "
"""Where most of its claims stand, in Settings A and B."""
AVERAGED = "Moving average of 20 rounds, at every 20th."
OWN_MEANS = "Users' means are their own, and comply with no order."
"""Notes on figures of regret per round, and on those of Setting B."""

PACES = {
    "projecting every 10th round": (LOBUCB_TENTH, LOBTS_TENTH),
    "projecting every round": ("lobucb", "lobts"),
}
"""Variants of a claim: the paper projects every tenth round on MovieLens only."""
LOB_VARIANTS = {
    "lobUCB": (LOBUCB_TENTH,),
    "lobUCB with UCB's radius": (LOBUCB_NARROW_TENTH,),
    "lobTS": (LOBTS_TENTH,),
    "lobTS, projecting every round": ("lobts",),
}
"""Claims about both have a variant for each, as one may hold and the other not."""


def sweep(
    horizon: int = 4000,
    *,
    n_states: Sequence[int],
    alpha: Sequence[float],
    hold_out: Sequence[float] = (0.0,),
    policies: tuple[str, ...] = POLICIES,
    name: str = "",
    rounds: tuple[int, ...] = (),
    users: int = 20,
    **axes: Sequence[float],
) -> Sweep:
    """Return the task over the number of states, alpha, users held out, and perhaps c.

    ``users`` are those of each seed at the default size.
    """
    return Sweep(
        environment="movielens",
        axes={"n_states": n_states, "alpha": alpha, "hold_out": hold_out, **axes},
        fixed={"sigma": 2.0},
        policies=policies,
        horizon=horizon,
        users={"default": users, "full": 100},
        name=name,
        rounds=rounds,
    )


def draw_regret_by_states(records: Records, canvas: Canvas, per_round: bool) -> None:
    """Draw regret against the round, a panel for each number of states."""
    panels = {f"$m={m}$ states": record for m, record in records.along("n_states").items()}
    draw_regret(canvas, panels, SHOWN, columns=max(len(panels), 2), per_round=per_round)
