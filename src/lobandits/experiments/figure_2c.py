"""Figure 2(c): synthetic regret against the share of relations that policies see."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of, estimate
from lobandits.experiments.compare import PLAIN, below, by_policy_and_sigma, by_sigma, trend
from lobandits.experiments.design import Experiment, Found
from lobandits.experiments.draw import Canvas
from lobandits.experiments.synthetic import draw_sweep, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = {
    "default": (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0),
    "full": tuple(tenth / 10 for tenth in range(11)),
}
ENOUGH = 0.6


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw a panel for each sigma."""
    figure: Figure = draw_sweep(found, canvas, "q", "share of revealed relations $q$")
    return figure


def _beats_unstructured(found: Found, sigma: float, policy: str) -> Evidence:
    records = found.along("q", sigma=sigma).items()
    enough = [(q, record) for q, record in records if q > ENOUGH]
    return all_of(e for q, r in enough for e in below(r, (policy,), PLAIN, where=f", q = {q:g}"))


def _falls(found: Found, sigma: float, policy: str) -> Evidence:
    records = found.along("q", sigma=sigma)
    return all_of([estimate("fall of regret per unit of q", -trend(records, policy))])


def _falls_faster(found: Found, sigma: float) -> Evidence:
    records = found.along("q", sigma=sigma)
    more = trend(records, "lobucb") - trend(records, "lobts")
    return all_of([estimate("fall of lobTS minus fall of lobUCB", more)])


CLAIMS = (
    Claim(
        id="lob-beats-unstructured-for-q-above-0.6",
        where="Section 4.1, 'Latent order bandits benefit from structure', sentence 1",
        words="With more than 60% of the relations, lobUCB and lobTS beat UCB and TS.",
        statistic="regret of UCB and TS minus regret of lobUCB and lobTS, at each q > 0.6",
        test=by_policy_and_sigma(_beats_unstructured),
    ),
    Claim(
        id="more-relations-less-regret",
        where="Section 4.1, heading 'improve with more constraints'",
        words="The more relations are revealed, the less regret lobUCB and lobTS have.",
        statistic="minus each user's slope of regret over q, by least squares",
        test=by_policy_and_sigma(_falls),
    ),
    Claim(
        id="lobts-gains-faster-than-lobucb",
        where="Section 3.2, 'On the regret of lobTS', last sentence",
        words="As relations are added, lobTS's regret falls faster than lobUCB's.",
        statistic="slope of lobUCB's regret over q minus slope of lobTS's",
        test=by_sigma(_falls_faster),
    ),
)

EXPERIMENT = Experiment(
    name="figure-2c",
    place="Figure 2(c) (Section 4.1)",
    title="Synthetic: regret against the share of revealed relations, T = 500",
    note="15 arms, 15 states. Only lobUCB and lobTS depend on q.",
    work=(sweep(q=SHARES),),
    draw=draw,
    claims=CLAIMS,
)
