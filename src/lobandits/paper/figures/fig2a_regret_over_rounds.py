"""Figure 2(a), Section 4.1: regret against the horizon on the synthetic task."""

from functools import partial

import numpy as np

from lobandits.paper.claims import Claim, Estimate, below, estimate, for_each
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.synthetic_task import (
    AT_SIGMA,
    HAVE_C,
    LOB_AT_SIGMA,
    draw_regret_by_states,
    sweep,
)
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import C_VALUES, TOP_ARMS, UNSTRUCTURED

WORK = (
    sweep(n_states=(15,)),
    sweep(policies=HAVE_C, n_states=(15,), c=tuple(C_VALUES.values())),
)
RIVALS = (*UNSTRUCTURED, "mucb")


def _all_with_c(records: Records, sigma: float, lob: str, c: float) -> list[Estimate]:
    return below(records.at(sigma=sigma, c=c), lob, RIVALS)


def _rivals_with_any_c(records: Records, sigma: float, lob: str) -> list[Estimate]:
    own = records.at(sigma=sigma)
    return [
        difference
        for name, c in C_VALUES.items()
        for difference in below(
            own, lob, RIVALS, where=f" with {name}", rivals_in=records.at(sigma=sigma, c=c)
        )
    ]


def _sublinear(records: Records, sigma: float, power: float) -> list[Estimate]:
    """R(T) must be less than (T / t)^power (log T / log t)^(1 - power) R(t), for t = T / 4."""
    record = records.at(sigma=sigma)
    late, early = record.horizon, record.horizon / 4
    most = (late / early) ** power * (np.log(late) / np.log(early)) ** (1 - power)
    less = most * record.total("lobucb", 0.25) - record.total("lobucb")
    return [estimate(f"{most:.2f} times the regret at T / 4 minus that at T", less, record)]


CLAIMS = (
    Claim(
        id="synthetic-lob-beats-rivals",
        where="Figure 2, caption, last sentence",
        words="Though they know less, lobUCB and lobTS have less regret than mUCB, UCB and TS: at "
        "15 states.",
        statistic="regret of each rival minus regret of lobUCB and lobTS, at T = 500, k = m = 15",
        test=for_each(
            LOB_AT_SIGMA,
            lambda records, sigma, lob: below(records.at(sigma=sigma), lob, RIVALS),
        ),
    ),
    Claim(
        id="synthetic-lob-beats-rivals-with-other-c",
        where="Figure 2, caption, last sentence; c is not varied there",
        words="The same where all policies have another c.",
        statistic="as above, all policies with c = sigma/2, or with 2 sigma",
        test=for_each(
            {
                f"{name}, {c}": (*policy, value)
                for name, policy in LOB_AT_SIGMA.items()
                for c, value in C_VALUES.items()
            },
            _all_with_c,
        ),
    ),
    Claim(
        id="synthetic-lob-beats-rivals-with-any-c",
        where="Figure 2, caption, last sentence; c is not varied there",
        words="The same where lobUCB and lobTS keep c = sigma, and rivals may choose theirs.",
        statistic="as above, rivals with c = sigma/2 and with 2 sigma",
        test=for_each(LOB_AT_SIGMA, _rivals_with_any_c),
    ),
    Claim(
        id="synthetic-lob-beats-top-arms",
        where="Section 3.1, after Theorem 2, last but one sentence; drawn in no figure there",
        words="lobUCB and lobTS have less regret than UCB on the arms that are best in some state.",
        statistic="regret of UCB on the top arms minus regret of lobUCB and lobTS, at T = 500",
        test=for_each(
            LOB_AT_SIGMA,
            lambda records, sigma, lob: below(records.at(sigma=sigma), lob, [TOP_ARMS]),
        ),
    ),
    Claim(
        id="lobucb-sublinear",
        where="Section 3.1, after Theorem 2",
        words="The regret of lobUCB is sublinear in T, and scales as sqrt(T log T) at most.",
        statistic="what lobUCB's regret at T / 4 may become at T, if it grows like T or like "
        "sqrt(T log T), minus its regret at T",
        test=for_each(
            {
                f"{at}, {growth}": (*sigma, power)
                for at, sigma in AT_SIGMA.items()
                for growth, power in {
                    "slower than T": 1.0,
                    "slower than sqrt(T log T)": 0.5,
                }.items()
            },
            _sublinear,
        ),
    ),
)

EXPERIMENT = Experiment(
    name="figure-2a",
    place="Figure 2(a) (Section 4.1)",
    title="Synthetic: regret against the horizon",
    note="15 arms, 15 states. The text has sigma = 1, the appendix 5; both are shown. "
    "Best first: mTS plays each state's best arm once before it samples. Narrow: lobUCB has the "
    "radius of UCB, c sqrt(2 log t / N); its listing has 4.",
    work=WORK,
    draw=partial(draw_regret_by_states, columns=2),
    claims=CLAIMS,
)
