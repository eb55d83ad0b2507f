"""Figure 3(b): MovieLens, regret against the share alpha of the users' own means."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import Claim, Evidence, NotTestable, all_of, estimate
from lobandits.experiments.compare import LOB_TENTH, MTS, PLAIN, below, by_policy
from lobandits.experiments.data import RatingData
from lobandits.experiments.design import Experiment, Found, Survey
from lobandits.experiments.draw import INK, Canvas, draw_ends
from lobandits.experiments.movielens import SHOWN, sweep
from lobandits.experiments.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER_COUNTS = {0.0: 0.0, 0.2: 6.8, 0.4: 7.17, 0.6: 7.35, 0.8: 7.39, 1.0: 7.39}
ALPHAS = tuple(PAPER_COUNTS)
PAPER_EDITION = "ml-20m"
STATES = 60
MODERATE = 0.6


def violated_relations(
    ratings: RatingData, n_states: int, alphas: tuple[float, ...], seed: int
) -> dict[str, FloatArray]:
    """Return how many of its state's neighbours each user's means put in the wrong order."""
    counts = {}
    for alpha in alphas:
        env = ratings.environment(n_states, alpha=alpha)
        problems = env.sample(env.n_users, seed)
        rankings = np.array([order.ranking for order in env.orders])[problems.states]
        ranked = np.take_along_axis(problems.means, rankings, axis=1)
        counts[f"alpha = {alpha:g}"] = (np.diff(ranked, axis=1) > 0).sum(axis=1).astype(float)
    return counts


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw regret against alpha, and beside it how many relations are violated."""
    figure, (left, right) = canvas.panels(2)
    records = found.along("alpha")
    draw_ends(left, records, SHOWN)
    left.set_xlabel("share of the users' own means $\\alpha$")
    left.set_ylabel(f"cumulative regret at $T={next(iter(records.values())).horizon}$")
    counts = found.at(measure="violations")
    mean, error = np.transpose([counts.curve(label) for label in counts.labels])[0]
    alphas = [alpha for alpha, _ in _alphas(counts)]
    right.errorbar(alphas, mean, error, color=INK, marker="o", capsize=2, label="these data")
    paper = list(PAPER_COUNTS.values())
    right.plot(ALPHAS, paper, ":", color="#8c8c8c", marker="s", label="paper (ml-20m)")
    right.set_ylim(bottom=0)
    right.set_xlabel("share of the users' own means $\\alpha$")
    right.set_ylabel("violated relations per user")
    right.legend(frameon=False, loc="lower right")
    return figure


def _improve(found: Found, policy: str) -> Evidence:
    low = [(a, record) for a, record in found.along("alpha").items() if a <= MODERATE]
    return all_of(e for a, r in low for e in below(r, (policy,), PLAIN, where=f", alpha = {a:g}"))


def _smooth(found: Found, policy: str) -> Evidence:
    totals = [record.total(policy) for record in found.along("alpha").values()]
    first, second, last = totals[0], totals[1], totals[-1]
    what = "half the whole increase minus the first step"
    return all_of([estimate(what, (last - first) / 2 - (second - first))])


def _mts_worse(found: Found) -> dict[str, Evidence]:
    mixed = [(a, record) for a, record in found.along("alpha").items() if a > 0]
    return {
        f"{name}{', ' if option else ''}{option}": all_of(
            e for a, r in mixed for e in below(r, (policy,), (mts,), where=f", alpha = {a:g}")
        )
        for option, mts in MTS.items()
        for name, policy in LOB_TENTH.items()
    }


def _mts_competitive(found: Found) -> dict[str, Evidence]:
    record = found.along("alpha")[ALPHAS[0]]
    return {o or "as in the listing": all_of(below(record, (m,), PLAIN)) for o, m in MTS.items()}


def _counts(found: Found) -> dict[str, Evidence]:
    if found.data != PAPER_EDITION:
        raise NotTestable(f"the paper's counts are of {PAPER_EDITION}, here are {found.data}")
    counts = found.at(measure="violations")
    pairs = [(counts.total(label), PAPER_COUNTS[alpha]) for alpha, label in _alphas(counts)]
    return {
        "": all_of(
            estimate(f"10% of {paper} minus the distance", sign * (own - paper) + 0.1 * paper)
            for own, paper in pairs
            if paper > 0
            for sign in (-1.0, 1.0)
        )
    }


def _rapid(found: Found) -> dict[str, Evidence]:
    counts = found.at(measure="violations")
    early, late = counts.total(counts.labels[1]), counts.total(counts.labels[-1])
    what = "violated at alpha = 0.2 minus 80% of those at 1"
    return {"": all_of([estimate(what, early - 0.8 * late)])}


def _alphas(counts: Record) -> list[tuple[float, str]]:
    """Return the alphas at which violations were counted, with their labels."""
    return [(float(label.split("=")[1]), label) for label in counts.labels]


CLAIMS = (
    Claim(
        id="movielens-violations-counted",
        where="Section 4.2, 'LOB algorithms are robust', the sequence of counts",
        words="On average (0, 6.8, 7.17, 7.35, 7.39, 7.39) relations are violated as alpha grows.",
        statistic="10% of the paper's count minus the distance from it, at each alpha > 0",
        test=_counts,
    ),
    Claim(
        id="movielens-violations-rapid",
        where="Section 4.2, 'LOB algorithms are robust', the sequence of counts",
        words="Most relations that the users' own means violate are violated at alpha = 0.2.",
        statistic="violated relations at alpha = 0.2 minus 80% of those at alpha = 1, by user",
        test=_rapid,
    ),
    Claim(
        id="movielens-lob-robust",
        where="Section 4.2, 'LOB algorithms are robust', sentence on alpha <= 0.6",
        words="Up to alpha = 0.6, lobUCB and lobTS have less regret than UCB and TS.",
        statistic="regret of UCB and TS minus regret of lobUCB and lobTS, at each alpha <= 0.6",
        test=by_policy(_improve),
    ),
    Claim(
        id="movielens-lob-smooth",
        where="Section 4.2, 'LOB algorithms are robust', sentence on alpha <= 0.6",
        words="Though relations are violated at once, regret rises smoothly with alpha.",
        statistic="half the rise of regret from alpha = 0 to 1 minus its rise from 0 to 0.2",
        test=by_policy(_smooth),
    ),
    Claim(
        id="movielens-mts-competitive",
        where="Section 4.2, 'LOB algorithms are robust', last sentence",
        words="At alpha = 0, mTS has less regret than UCB and TS, though its means are wrong.",
        statistic="regret of UCB and TS minus regret of mTS, at alpha = 0",
        test=_mts_competitive,
    ),
    Claim(
        id="movielens-mts-worse",
        where="Section 4.2, 'LOB algorithms are robust', last sentence",
        words="Above alpha = 0, mTS has more regret than lobUCB and lobTS.",
        statistic="regret of mTS minus regret of lobUCB and lobTS, at each alpha > 0",
        test=_mts_worse,
    ),
)

EXPERIMENT = Experiment(
    name="figure-3b",
    place="Figure 3(b) (Section 4.2)",
    title="MovieLens: regret at T = 4000 against misspecification",
    note="60 states. Alpha = 0 is Setting A, alpha = 1 Setting B. Right: how many of the k - 1 "
    "relations between neighbours a user's means violate.",
    work=(
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
    ),
    draw=draw,
    claims=CLAIMS,
    on_ratings=True,
)
