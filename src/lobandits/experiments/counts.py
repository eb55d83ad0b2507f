"""What the paper counts on MovieLens: violated relations, what filters leave, and seconds."""

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import (
    LOB_TENTH,
    MTS,
    ONCE,
    PACES,
    PLAIN,
    Claim,
    Estimate,
    NotTestable,
    below,
    below_along,
    by,
    estimate,
    exactly,
)
from lobandits.experiments.design import (
    FIRST,
    TENTH,
    Experiment,
    Found,
    RatingData,
    Survey,
    policy_title,
)
from lobandits.experiments.draw import INK, Canvas, draw_ends, remark
from lobandits.experiments.movielens import RAW, SHOWN, sweep
from lobandits.simulation.report import line_styles

PAPER_COUNTS = {0.0: 0.0, 0.2: 6.8, 0.4: 7.17, 0.6: 7.35, 0.8: 7.39, 1.0: 7.39}
"""Violated relations by alpha."""
ALPHAS = tuple(PAPER_COUNTS)
PAPER_SIZES = {"users": 26_826, "ratings": 11_905_303, "genres": 19}
PAPER_EDITION = "ml-20m"
PAPER_MINUTES = {"mucb": 1.0, "mts": 3.0, TENTH[0]: 30.0, TENTH[1]: 94.0}
MOST_SECONDS = 2.0
"""Per round, for all users together."""
STATES = 60
OWN_SHARE = "share of the users' own means $\\alpha$"
ROBUST = "Section 4.2, 'LOB algorithms are robust', "


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


def count_data(ratings: RatingData, seed: int) -> dict[str, FloatArray]:
    """Return the users, ratings and genres that remain."""
    facts = ratings.facts()
    return {name: np.array([float(facts[name])]) for name in PAPER_SIZES}


def _draw_alphas(found: Found, canvas: Canvas) -> None:
    left, right = canvas.panels(2)
    draw_ends(left, found.along("alpha"), SHOWN, OWN_SHARE)
    counts = found.at(measure="violations")
    mean, error = np.transpose([counts.curve(label) for label in counts.labels])[0]
    alphas = list(counts.by_value)
    right.errorbar(alphas, mean, error, color=INK, marker="o", capsize=2, label="these data")
    paper = list(PAPER_COUNTS.values())
    right.plot(ALPHAS, paper, ":", color="#8c8c8c", marker="s", label="paper (ml-20m)")
    right.set(ylim=(0, None), xlabel=OWN_SHARE, ylabel="violated relations per user")
    right.legend(frameon=False, loc="lower right")


def _draw_times(found: Found, canvas: Canvas) -> None:
    (place,) = canvas.panels(1, high=2.2)
    seconds = found.at().cpu_seconds
    styles = line_styles(PAPER_MINUTES)
    rows = np.arange(len(PAPER_MINUTES))
    own = [seconds[label] for label in PAPER_MINUTES]
    paper = [60 * minutes for minutes in PAPER_MINUTES.values()]
    place.hlines(rows, own, paper, color="#8c8c8c", linewidth=0.8)
    for row, label, mine, theirs in zip(rows, PAPER_MINUTES, own, paper, strict=True):
        color = styles[label]["color"]
        place.plot(mine, row, "o", color=color, markersize=6)
        place.plot(theirs, row, "s", color=color, markersize=6, markerfacecolor="none")
        for x, text in ((mine, f"{mine:.2g} s"), (theirs, f"{theirs / 60:g} min")):
            remark(place, text, (x, row), (0, 6), ha="center", fontsize=7.5)
    place.set_yticks(rows, [policy_title(label) for label in PAPER_MINUTES])
    place.set(xscale="log", xmargin=0.12, ylim=(-0.5, len(rows) - 0.2))
    place.set(xlabel="processor seconds (filled: here, empty: paper)")


def _counts(found: Found) -> list[Estimate]:
    if found.data != PAPER_EDITION:
        raise NotTestable(f"the paper's counts are of {PAPER_EDITION}, here are {found.data}")
    counts = found.at(measure="violations")
    return [
        estimate(f"10% of {paper} minus the distance", sign * (own - paper) + 0.1 * paper)
        for alpha, label in counts.by_value.items()
        for own, paper in [(counts.total(label), PAPER_COUNTS[alpha])]
        if paper > 0
        for sign in (-1.0, 1.0)
    ]


def _rapid(found: Found) -> list[Estimate]:
    counts = found.at(measure="violations")
    early, late = counts.total(counts.labels[1]), counts.total(counts.labels[-1])
    return [estimate("violated at alpha = 0.2 minus 80% of those at 1", early - 0.8 * late)]


def _smooth(found: Found, policy: str) -> list[Estimate]:
    totals = [record.total(policy) for record in found.along("alpha").values()]
    first, second, last = totals[0], totals[1], totals[-1]
    what = "half the whole increase minus the first step"
    return [estimate(what, (last - first) / 2 - (second - first))]


def _sizes(found: Found) -> list[Estimate]:
    if found.data != PAPER_EDITION:
        raise NotTestable(f"the paper counts {PAPER_EDITION}, here are {found.data}")
    own = {name: float(found.at().total(name)[0]) for name in PAPER_SIZES}
    return [
        exactly(f"half minus |{own[name]:,.0f} - {paper:,}| {name}", 0.5 - abs(own[name] - paper))
        for name, paper in PAPER_SIZES.items()
    ]


def _slowest(found: Found, lobucb: str, lobts: str) -> list[Estimate]:
    seconds = found.at().cpu_seconds
    return [
        exactly(f"lobTS minus {policy_title(label)}", seconds[lobts] - seconds[label])
        for label in ("mucb", "mts", lobucb)
    ]


def _fast_enough(found: Found) -> list[Estimate]:
    record = found.at()
    each = {label: record.cpu_seconds[label] / record.horizon for label in TENTH}
    return [
        exactly(f"2 s minus {1000 * s:.2g} ms of {policy_title(label)}", MOST_SECONDS - s)
        for label, s in each.items()
    ]


FIGURE_3B = Experiment(
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
    draw=_draw_alphas,
    claims=(
        Claim(
            id="movielens-violations-counted",
            where=f"{ROBUST}the sequence of counts",
            words="On average (0, 6.8, 7.17, 7.35, 7.39, 7.39) relations are violated as alpha "
            "grows.",
            statistic="10% of the paper's count minus the distance from it, at each alpha > 0",
            test=by(ONCE, _counts),
        ),
        Claim(
            id="movielens-violations-rapid",
            where=f"{ROBUST}the sequence of counts",
            words="Most relations that the users' own means violate are violated at alpha = 0.2.",
            statistic="violated relations at alpha = 0.2 minus 80% of those at alpha = 1, by user",
            test=by(ONCE, _rapid),
        ),
        Claim(
            id="movielens-lob-robust",
            where=f"{ROBUST}sentence on alpha <= 0.6",
            words="Up to alpha = 0.6, lobUCB and lobTS have less regret than UCB and TS.",
            statistic="regret of UCB and TS minus regret of lobUCB and lobTS, at each alpha <= 0.6",
            test=by(
                LOB_TENTH,
                lambda found, lob: below_along(found, "alpha", lob, PLAIN, lambda a: a <= 0.6),
            ),
        ),
        Claim(
            id="movielens-lob-smooth",
            where=f"{ROBUST}sentence on alpha <= 0.6",
            words="Though relations are violated at once, regret rises smoothly with alpha.",
            statistic="half the rise of regret from alpha = 0 to 1 minus its rise from 0 to 0.2",
            test=by(LOB_TENTH, _smooth),
        ),
        Claim(
            id="movielens-mts-competitive",
            where=f"{ROBUST}last sentence",
            words="At alpha = 0, mTS has less regret than UCB and TS, though its means are wrong.",
            statistic="regret of UCB and TS minus regret of mTS, at alpha = 0",
            test=by(
                {"as in the listing": ("mts",), "mTS best arms first": (FIRST,)},
                lambda found, mts: below(found.at(alpha=0.0), mts, PLAIN),
            ),
        ),
        Claim(
            id="movielens-mts-worse",
            where=f"{ROBUST}last sentence",
            words="Above alpha = 0, mTS has more regret than lobUCB and lobTS.",
            statistic="regret of mTS minus regret of lobUCB and lobTS, at each alpha > 0",
            test=by(
                {
                    f"{name}{option}": (*policy, mts)
                    for option, mts in MTS.items()
                    for name, policy in LOB_TENTH.items()
                },
                lambda found, lob, mts: below_along(found, "alpha", lob, [mts], lambda a: a > 0),
            ),
        ),
    ),
)

FILTERED_DATA = Experiment(
    name="filtered-data",
    place="Appendix B.2",
    title="MovieLens: what remains after the filters",
    work=(Survey("sizes", count_data, {"tiny": {}, "default": {}, "full": {}}, on_ratings=True),),
    claims=(
        Claim(
            id="movielens-filtered-size",
            where="Appendix B.2, 2nd paragraph; k = 19 in Section 4.2",
            words="After the filters 26,826 users, 11,905,303 ratings and 19 genres remain.",
            statistic="0.5 minus the distance from each printed number",
            test=by(ONCE, _sizes),
        ),
    ),
    value="number",
)

COMPUTATION_TIME = Experiment(
    name="computation-time",
    place="Section 4.2, 'Computation time'",
    title="MovieLens: computation time with 140 states",
    note="Processor time of 100 users and 4000 rounds, all processors together; the paper's times "
    "are from another machine.",
    work=(sweep(n_states=(140,), alpha=(RAW,)),),
    draw=_draw_times,
    claims=(
        Claim(
            id="lobts-slowest",
            where="Section 4.2, 'Computation time', sentences 1 and 2",
            words="lobTS takes longer than mUCB, mTS and lobUCB.",
            statistic="processor time of lobTS minus that of each other one, in seconds",
            test=by(PACES, _slowest),
            timed=True,
        ),
        Claim(
            id="lob-fast-enough",
            where="Section 4.2, 'Computation time', last sentence",
            words="A round of lobUCB and lobTS takes at most 2 seconds, for 100 users together.",
            statistic="2 s minus processor time per round",
            test=by(ONCE, _fast_enough),
            timed=True,
        ),
    ),
    value="seconds",
    timed=True,
)
