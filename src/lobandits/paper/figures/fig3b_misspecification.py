"""Figure 3(b), Section 4.2: regret, and violated relations, where the orders hold less and less."""

from itertools import pairwise

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.paper.claims import (
    NO_VARIANTS,
    Claim,
    Estimate,
    NotTestable,
    all_of,
    below,
    below_along,
    estimate,
    for_each,
)
from lobandits.paper.drawing import INK, Canvas, draw_final_regret
from lobandits.paper.experiment import Experiment, Survey
from lobandits.paper.figures.movielens_task import (
    FAIR_RIVALS,
    LOB_VARIANTS,
    PAPER_EDITION,
    ROBUST,
    SHOWN,
    sweep,
)
from lobandits.paper.parts import RatingData, Records
from lobandits.paper.parts.policies import (
    LOBTS_TENTH,
    MTS_BEST_FIRST,
    MTS_VARIANTS,
    UNSTRUCTURED,
    policy_title,
)

STATES = 60
PAPER_COUNTS = {0.0: 0.0, 0.2: 6.8, 0.4: 7.17, 0.6: 7.35, 0.8: 7.39, 1.0: 7.39}
"""Violated relations by alpha."""
ALPHAS = tuple(PAPER_COUNTS)


def violated_relations(
    ratings: RatingData, n_states: int, alphas: tuple[float, ...], seed: int
) -> dict[str, FloatArray]:
    """Return how many of its state's neighbours each user's means put in the wrong order."""
    return {f"alpha = {alpha:g}": ratings.violations(n_states, alpha) for alpha in alphas}


WORK = (
    sweep(n_states=(STATES,), alpha=ALPHAS),
    Survey(
        name="violations",
        measure=violated_relations,
        options={
            "tiny": {"n_states": STATES, "alphas": (ALPHAS[0], ALPHAS[-1])},
            "default": {"n_states": STATES, "alphas": ALPHAS},
            "full": {"n_states": STATES, "alphas": ALPHAS},
        },
        on_ratings=True,
    ),
)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw regret, and violated relations beside the paper's."""
    left, right = canvas.panels(2)
    own_share = "share of the users' own means $\\alpha$"
    draw_final_regret(left, records.along("alpha"), SHOWN, own_share)
    counts = records.at(measure="violations")
    mean, error = np.transpose([counts.curve(label) for label in counts.labels])[0]
    alphas = list(counts.by_value)
    right.errorbar(alphas, mean, error, color=INK, marker="o", capsize=2, label="these data")
    paper = list(PAPER_COUNTS.values())
    right.plot(ALPHAS, paper, ":", color="#8c8c8c", marker="s", label="paper (ml-20m)")
    right.set(ylim=(0, None), xlabel=own_share, ylabel="violated relations per user")
    right.legend(frameon=False, loc="lower right")


def _as_counted(records: Records) -> list[Estimate]:
    if records.data != PAPER_EDITION:
        raise NotTestable(f"the paper's counts are of {PAPER_EDITION}, here are {records.data}")
    counts = records.at(measure="violations")
    return [
        estimate(f"10% of {paper} minus the distance", sign * (own - paper) + 0.1 * paper, counts)
        for alpha, label in counts.by_value.items()
        for own, paper in [(counts.total(label), PAPER_COUNTS[alpha])]
        if paper > 0
        for sign in (-1.0, 1.0)
    ]


def _rapid(records: Records) -> list[Estimate]:
    counts = records.at(measure="violations")
    early, late = counts.total(counts.labels[1]), counts.total(counts.labels[-1])
    return [estimate("violated at alpha = 0.2 minus 80% of those at 1", early - 0.8 * late, counts)]


def _smooth(records: Records, policy: str) -> list[Estimate]:
    along = records.along("alpha")
    totals = {alpha: record.total(policy) for alpha, record in along.items()}
    alphas = list(totals)
    half = (totals[alphas[-1]] - totals[alphas[0]]) / 2
    return [
        estimate(
            f"half the whole increase minus that from {a:g} to {b:g}",
            half - (totals[b] - totals[a]),
            along[a],
        )
        for a, b in pairwise(alphas)
    ]


CLAIMS = (
    Claim(
        id="movielens-violations-counted",
        where=f"{ROBUST}the sequence of counts",
        words="On average (0, 6.8, 7.17, 7.35, 7.39, 7.39) relations are violated as alpha grows.",
        statistic="10% of the paper's count minus the distance from it, at each alpha > 0",
        test=for_each(NO_VARIANTS, _as_counted),
    ),
    Claim(
        id="movielens-violations-rapid",
        where=f"{ROBUST}the sequence of counts",
        words="Most relations that the users' own means violate are violated at alpha = 0.2.",
        statistic="violated relations at alpha = 0.2 minus 80% of those at alpha = 1, by user",
        test=for_each(NO_VARIANTS, _rapid),
    ),
    Claim(
        id="movielens-lob-robust",
        where=f"{ROBUST}sentence on alpha <= 0.6",
        words="Up to alpha = 0.6, lobUCB and lobTS have less regret than UCB and TS.",
        statistic="regret of UCB and TS minus regret of lobUCB and lobTS, at each alpha <= 0.6",
        test=for_each(
            LOB_VARIANTS,
            lambda records, lob: below_along(
                records, "alpha", lob, UNSTRUCTURED, lambda alpha: alpha <= 0.6
            ),
        ),
    ),
    Claim(
        id="movielens-lobts-robust-against-fair-rivals",
        where=f"{ROBUST}sentence on alpha <= 0.6; these rivals are drawn in no figure there",
        words="At this alpha, lobTS has less regret than UCB on the top arms, and than TS with a "
        "prior for each arm.",
        statistic="regret of each such rival minus regret of lobTS, at T = 4000",
        test=lambda records: {
            f"{policy_title(rival)}, alpha = {alpha:g}": all_of(below(record, LOBTS_TENTH, [rival]))
            for rival in FAIR_RIVALS
            for alpha, record in records.along("alpha").items()
        },
    ),
    Claim(
        id="movielens-lob-smooth",
        where=f"{ROBUST}sentence on alpha <= 0.6",
        words="Though relations are violated at once, regret rises smoothly with alpha.",
        statistic="half the rise of regret from alpha = 0 to 1 minus each of the five steps",
        test=for_each(LOB_VARIANTS, _smooth),
    ),
    Claim(
        id="movielens-mts-competitive",
        where=f"{ROBUST}last sentence",
        words="At alpha = 0, mTS has less regret than UCB and TS, though its means are wrong.",
        statistic="regret of UCB and TS minus regret of mTS, at alpha = 0",
        test=for_each(
            {"as in the listing": ("mts",), "mTS best arms first": (MTS_BEST_FIRST,)},
            lambda records, mts: below(records.at(alpha=0.0), mts, UNSTRUCTURED),
        ),
    ),
    Claim(
        id="movielens-mts-worse",
        where=f"{ROBUST}last sentence",
        words="Above alpha = 0, mTS has more regret than lobUCB and lobTS.",
        statistic="regret of mTS minus regret of lobUCB and lobTS, at each alpha > 0",
        test=for_each(
            {
                f"{name}{option}": (*policy, mts)
                for option, mts in MTS_VARIANTS.items()
                for name, policy in LOB_VARIANTS.items()
            },
            lambda records, lob, mts: below_along(
                records, "alpha", lob, [mts], lambda alpha: alpha > 0
            ),
        ),
    ),
)

EXPERIMENT = Experiment(
    name="figure-3b",
    place="Figure 3(b) (Section 4.2)",
    title="MovieLens: regret at T = 4000 against misspecification",
    note="60 states. Alpha = 0 is Setting A, alpha = 1 Setting B. Right: how many of the k - 1 "
    "relations between neighbours a user's means violate.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
