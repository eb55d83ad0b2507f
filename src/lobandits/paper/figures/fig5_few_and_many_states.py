"""Figure 5, Appendix B.4: regret against the horizon with 4, 12 and 20 states."""

from functools import partial

from lobandits.paper.claims import Claim, Estimate, estimate, for_each
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.synthetic_task import (
    AT_SIGMA,
    MTS_AT_SIGMA,
    STRUCTURE,
    draw_regret_by_states,
    sweep,
)
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import TOP_ARMS

WORK = (sweep(n_states=(4, 12, 20)),)


def _explores_longer(records: Records, sigma: float, mts: str) -> list[Estimate]:
    few, *_, many = records.along("n_states", sigma=sigma).values()
    more = many.total(mts, 0.1) - few.total(mts, 0.1)
    return [estimate("more regret with 20 states than with 4", more)]


def _far_better(records: Records, sigma: float, share: float) -> list[Estimate]:
    return [
        estimate(
            f"{share:g} of top-arms UCB's, m = {m}", share * r.total(TOP_ARMS) - r.total("mts")
        )
        for m, r in records.along("n_states", sigma=sigma).items()
    ]


CLAIMS = (
    Claim(
        id="mts-explores-longer-with-more-states",
        where=f"{STRUCTURE}last sentence",
        words="mTS's initial exploration takes longer, the more states there are.",
        statistic="mTS's regret in the first 50 rounds with m = 20 minus that with m = 4",
        test=for_each(MTS_AT_SIGMA, _explores_longer),
    ),
    Claim(
        id="mts-beats-top-arms",
        where="Appendix C, last paragraph",
        words="mTS is far better than UCB restricted to the arms that are best in some state.",
        statistic="regret of UCB on the top arms, or half of it, minus regret of mTS, at each m",
        test=for_each(
            {
                f"{at}, {name}": (*sigma, share)
                for at, sigma in AT_SIGMA.items()
                for name, share in {"less": 1.0, "at most half": 0.5}.items()
            },
            _far_better,
        ),
    ),
)

EXPERIMENT = Experiment(
    name="figure-5",
    place="Figure 5 (Appendix B.4)",
    title="Synthetic: regret against the horizon for m = 4, 12 and 20",
    note="15 arms.",
    work=WORK,
    draw=partial(draw_regret_by_states, columns=3),
    claims=CLAIMS,
)
