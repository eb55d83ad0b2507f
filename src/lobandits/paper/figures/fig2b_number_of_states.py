"""Figure 2(b), Section 4.1: regret against the number of states on the synthetic task."""

from functools import partial

from lobandits.paper.claims import Claim, any_of, below_along, for_each
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.synthetic_task import (
    AT_SIGMA,
    LOB_AT_SIGMA,
    MTS_AT_SIGMA,
    STRUCTURE,
    draw_final_regret_along,
    sweep,
)
from lobandits.paper.parts.policies import MUCB_TIES, UNSTRUCTURED

STATES = {
    "default": (2, 4, 8, 15, 20, 30, 40, 100),
    "full": (2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 60, 100, 200),
}
WORK = (sweep(n_states=STATES),)


CLAIMS = (
    Claim(
        id="lob-beats-unstructured-for-all-m",
        where=f"{STRUCTURE}sentence 1",
        words="lobUCB and lobTS have less regret than UCB and TS, for every number of states.",
        statistic="regret of UCB and TS minus regret of lobUCB and lobTS, at each m",
        test=for_each(
            LOB_AT_SIGMA,
            lambda records, s, lob: below_along(records, "n_states", lob, UNSTRUCTURED, sigma=s),
        ),
    ),
    Claim(
        id="synthetic-lob-beats-rivals-consistently",
        where="Figure 2, caption, last sentence: 'consistently'",
        words="Though they know less, lobUCB and lobTS have less regret than mUCB, UCB and TS, for "
        "every number of states.",
        statistic="regret of UCB, TS and mUCB minus regret of lobUCB and lobTS, at each m",
        test=for_each(
            LOB_AT_SIGMA,
            lambda records, s, lob: below_along(
                records, "n_states", lob, (*UNSTRUCTURED, "mucb"), sigma=s
            ),
        ),
    ),
    Claim(
        id="lob-beats-mucb-for-m-above-2",
        where=f"{STRUCTURE}sentence 2",
        words="Unless there are only 2 states, lobUCB and lobTS have less regret than mUCB.",
        statistic="regret of mUCB minus regret of lobUCB and lobTS, at each m > 2",
        test=for_each(
            {
                f"{name}{ties}": (*policy, mucb)
                for ties, mucb in {"": "mucb", ", mUCB's ties at random": MUCB_TIES}.items()
                for name, policy in LOB_AT_SIGMA.items()
            },
            lambda records, s, lob, mucb: below_along(
                records, "n_states", lob, [mucb], lambda m: m > 2, sigma=s
            ),
        ),
    ),
    Claim(
        id="mucb-wins-at-2-states",
        where=f"{STRUCTURE}sentence 2",
        words="With m = 2 states, mUCB has less regret than lobUCB or lobTS.",
        statistic="regret of lobUCB, or of lobTS, minus regret of mUCB, at m = 2; one is enough",
        test=for_each(
            AT_SIGMA,
            lambda records, s: below_along(
                records, "n_states", "mucb", ["lobucb", "lobts"], lambda m: m == 2, sigma=s
            ),
            any_of,
        ),
    ),
    Claim(
        id="lobts-overtakes-mts",
        where=f"{STRUCTURE}sentence 3",
        words="For some m of at least 15, lobTS overtakes mTS, which knows all means.",
        statistic="regret of mTS minus regret of lobTS, at each m >= 15; one is enough",
        test=for_each(
            MTS_AT_SIGMA,
            lambda records, s, mts: below_along(
                records, "n_states", "lobts", [mts], lambda m: m >= 15, sigma=s
            ),
            any_of,
        ),
    ),
)

EXPERIMENT = Experiment(
    name="figure-2b",
    place="Figure 2(b) (Section 4.1)",
    title="Synthetic: regret against the number of states, T = 500",
    note="15 arms.",
    work=WORK,
    draw=partial(draw_final_regret_along, axis="n_states", name="number of states $m$"),
    claims=CLAIMS,
)
