"""Figure 2(b): synthetic regret against the number of states."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of, any_of
from lobandits.experiments.compare import MTS, PLAIN, below, by_policy_and_sigma, by_sigma
from lobandits.experiments.design import SIGMAS, Experiment, Found
from lobandits.experiments.draw import Canvas
from lobandits.experiments.synthetic import draw_sweep, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES = {
    "default": (2, 4, 8, 15, 20, 30, 40, 100),
    "full": (2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 60, 100, 200),
}
FEWEST, ARMS = 2, 15


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw a panel for each sigma."""
    figure: Figure = draw_sweep(found, canvas, "n_states", "number of states $m$")
    return figure


def _beats_unstructured(found: Found, sigma: float, policy: str) -> Evidence:
    records = found.along("n_states", sigma=sigma).items()
    return all_of(e for m, r in records for e in below(r, (policy,), PLAIN, where=f", m = {m}"))


def _beats_mucb(found: Found, sigma: float, policy: str) -> Evidence:
    records = found.along("n_states", sigma=sigma).items()
    more = [(m, record) for m, record in records if m > FEWEST]
    return all_of(e for m, r in more for e in below(r, (policy,), ("mucb",), where=f", m = {m}"))


def _mucb_wins(found: Found, sigma: float) -> Evidence:
    return any_of(
        below(
            found.at(sigma=sigma, n_states=FEWEST), ("mucb",), ("lobucb", "lobts"), where=", m = 2"
        )
    )


def _overtakes_mts(found: Found) -> dict[str, Evidence]:
    variants = {}
    for sigma in SIGMAS:
        for option, mts in MTS.items():
            records = found.along("n_states", sigma=sigma).items()
            many = [(m, record) for m, record in records if m >= ARMS]
            name = f"sigma = {sigma:g}{', ' if option else ''}{option}"
            variants[name] = any_of(
                e for m, r in many for e in below(r, ("lobts",), (mts,), where=f", m = {m}")
            )
    return variants


CLAIMS = (
    Claim(
        id="lob-beats-unstructured-for-all-m",
        where="Section 4.1, 'Latent order bandits benefit from structure', sentence 1",
        words="lobUCB and lobTS have less regret than UCB and TS, for every number of states.",
        statistic="regret of UCB and TS minus regret of lobUCB and lobTS, at each m",
        test=by_policy_and_sigma(_beats_unstructured),
    ),
    Claim(
        id="lob-beats-mucb-for-m-above-2",
        where="Section 4.1, 'Latent order bandits benefit from structure', sentence 2",
        words="But for m = 2, lobUCB and lobTS have less regret than mUCB.",
        statistic="regret of mUCB minus regret of lobUCB and lobTS, at each m > 2",
        test=by_policy_and_sigma(_beats_mucb),
    ),
    Claim(
        id="mucb-wins-at-2-states",
        where="Section 4.1, 'Latent order bandits benefit from structure', sentence 2",
        words="With m = 2 states, mUCB has less regret than lobUCB or lobTS.",
        statistic="regret of lobUCB, or of lobTS, minus regret of mUCB, at m = 2; one is enough",
        test=by_sigma(_mucb_wins),
    ),
    Claim(
        id="lobts-overtakes-mts",
        where="Section 4.1, 'Latent order bandits benefit from structure', sentence 3",
        words="For some m of at least 15, lobTS overtakes mTS, which knows all means.",
        statistic="regret of mTS minus regret of lobTS, at each m >= 15; one is enough",
        test=_overtakes_mts,
    ),
)

EXPERIMENT = Experiment(
    name="figure-2b",
    place="Figure 2(b) (Section 4.1)",
    title="Synthetic: regret against the number of states, T = 500",
    note="15 arms.",
    work=(sweep(n_states=STATES),),
    draw=draw,
    claims=CLAIMS,
)
