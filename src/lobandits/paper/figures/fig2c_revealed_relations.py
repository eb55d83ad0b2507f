"""Figure 2(c), Section 4.1: regret against the share of revealed relations."""

from functools import partial

from lobandits.basics.checks import FloatArray
from lobandits.paper.claims import Claim, Estimate, below_along, estimate, for_each, trend
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.synthetic_task import (
    AT_SIGMA,
    LOB_AT_SIGMA,
    STRUCTURE,
    draw_final_regret_along,
    sweep,
)
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import UNSTRUCTURED

SHARES = {
    "default": (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0),
    "full": tuple(tenth / 10 for tenth in range(11)),
}
WORK = (sweep(q=SHARES),)


def _slope(records: Records, sigma: float, policy: str) -> FloatArray:
    return trend({q: r.total(policy) for q, r in records.along("q", sigma=sigma).items()})


def _falls_faster(records: Records, sigma: float) -> list[Estimate]:
    more = _slope(records, sigma, "lobucb") - _slope(records, sigma, "lobts")
    return [estimate("fall of lobTS minus fall of lobUCB", more)]


CLAIMS = (
    Claim(
        id="lob-beats-unstructured-for-q-above-0.6",
        where=f"{STRUCTURE}sentence 1",
        words="With more than 60% of the relations, lobUCB and lobTS beat UCB and TS.",
        statistic="regret of UCB and TS minus regret of lobUCB and lobTS, at each q > 0.6",
        test=for_each(
            LOB_AT_SIGMA,
            lambda records, s, lob: below_along(
                records, "q", lob, UNSTRUCTURED, lambda q: q > 0.6, sigma=s
            ),
        ),
    ),
    Claim(
        id="more-relations-less-regret",
        where="Section 4.1, heading 'improve with more constraints'",
        words="The more relations are revealed, the less regret lobUCB and lobTS have.",
        statistic="minus each user's slope of regret over q, by least squares",
        test=for_each(
            LOB_AT_SIGMA,
            lambda records, s, lob: [
                estimate("fall of regret per unit of q", -_slope(records, s, lob))
            ],
        ),
    ),
    Claim(
        id="lobts-gains-faster-than-lobucb",
        where="Section 3.2, 'On the regret of lobTS', last sentence",
        words="As relations are added, lobTS's regret falls faster than lobUCB's.",
        statistic="slope of lobUCB's regret over q minus slope of lobTS's",
        test=for_each(AT_SIGMA, _falls_faster),
    ),
)

EXPERIMENT = Experiment(
    name="figure-2c",
    place="Figure 2(c) (Section 4.1)",
    title="Synthetic: regret against the share of revealed relations, T = 500",
    note="15 arms, 15 states. Only lobUCB, lobTS and top-arms UCB depend on q.",
    work=WORK,
    draw=partial(draw_final_regret_along, axis="q", name="share of revealed relations $q$"),
    claims=CLAIMS,
)
