"""Figures 2, 4 and 5: regret on the synthetic task, over states, revealed relations and paces."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lobandits._checks import FloatArray
from lobandits.experiments.claims import (
    LOB_AT_SIGMA,
    MTS_AT_SIGMA,
    PLAIN,
    SIGMA,
    Claim,
    Estimate,
    any_of,
    below,
    below_along,
    by,
    estimate,
    exactly,
    trend,
)
from lobandits.experiments.design import (
    FIRST,
    NARROW,
    PACED,
    PAPER_POLICIES,
    SIGMAS,
    Experiment,
    Found,
    Sweep,
    lazy,
    policy_title,
)
from lobandits.experiments.draw import Canvas, draw_ends, draw_horizon

TASK = {"n_arms": 15, "n_states": 15, "q": 1.0}
"""k = m = 15 with all relations, where the paper does not say otherwise."""
SHOWN = ("ucb", "ts", "mucb", "mts", FIRST, "lobucb", NARROW, "lobts")
STATES = {
    "default": (2, 4, 8, 15, 20, 30, 40, 100),
    "full": (2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 60, 100, 200),
}
SHARES = {
    "default": (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0),
    "full": tuple(tenth / 10 for tenth in range(11)),
}
STRUCTURE = "Section 4.1, 'Latent order bandits benefit from structure', "
EVERY = (1, 2, 5, 10, 20, 50)
LINEAR = (0.5, 0.8)
"""Shares of T_proj from which on a speed-up may be called linear; the verdict hangs on it."""


def sweep(
    policies: tuple[str, ...] = (*PAPER_POLICIES, FIRST, NARROW, "toparms"),
    task: Mapping[str, Any] = TASK,
    **axes: Sequence[Any] | Mapping[str, Sequence[Any]],
) -> Sweep:
    """Return the synthetic task at both sigmas, over the axes."""
    return Sweep(
        environment="synthetic",
        axes={"sigma": SIGMAS, **axes},
        fixed={name: value for name, value in task.items() if name not in axes},
        policies=policies,
        horizon=500,
        users={"default": 300, "full": 1000},
    )


def _draw_sweep(found: Found, canvas: Canvas, axis: str, name: str) -> None:
    axes = canvas.panels(len(SIGMAS))
    for place, sigma in zip(axes, SIGMAS, strict=True):
        draw_ends(place, found.along(axis, sigma=sigma), SHOWN, name)
        place.set_title(f"$\\sigma={sigma:g}$")


def _draw_states(found: Found, canvas: Canvas, columns: int) -> None:
    panels = {
        f"$\\sigma={sigma:g}$, $m={m}$": record
        for sigma in SIGMAS
        for m, record in found.along("n_states", sigma=sigma).items()
    }
    draw_horizon(canvas, panels, SHOWN, columns)


def _sublinear(found: Found, sigma: float) -> list[Estimate]:
    record = found.at(sigma=sigma)
    halves = record.between("lobucb", 0, 0.5) - record.between("lobucb", 0.5, 1)
    return [estimate("first half minus second half", halves)]


def _slope(found: Found, sigma: float, policy: str) -> FloatArray:
    return trend({q: r.total(policy) for q, r in found.along("q", sigma=sigma).items()})


def _falls_faster(found: Found, sigma: float) -> list[Estimate]:
    more = _slope(found, sigma, "lobucb") - _slope(found, sigma, "lobts")
    return [estimate("fall of lobTS minus fall of lobUCB", more)]


def _explores_longer(found: Found, sigma: float, mts: str) -> list[Estimate]:
    few, *_, many = found.along("n_states", sigma=sigma).values()
    more = many.total(mts, 0.1) - few.total(mts, 0.1)
    return [estimate("more regret with 20 states than with 4", more)]


def _draw_paces(found: Found, canvas: Canvas) -> None:
    """Draw regret against T_proj; policies without it are level lines."""
    axes = canvas.panels(len(SIGMAS))
    for place, sigma in zip(axes, SIGMAS, strict=True):
        record = found.at(sigma=sigma)
        paces = {
            n: replace(record, samples={p: record.samples[lazy(p, n)] for p in PAPER_POLICIES})
            for n in EVERY
        }
        draw_ends(place, paces, PAPER_POLICIES, "rounds between projections $T_{proj}$")
        for line in place.get_lines()[: -len(PACED)]:
            line.set_marker("")
        place.set(xscale="log", title=f"$\\sigma={sigma:g}$")
        place.set_xticks(EVERY, [str(n) for n in EVERY])
        place.minorticks_off()


def _harmless(found: Found, sigma: float, policy: str) -> list[Estimate]:
    record = found.at(sigma=sigma)
    more = 1.1 * record.total(policy) - record.total(lazy(policy, 10))
    return [estimate("110% of the regret at T_proj = 1 minus that at 10", more)]


def _linear(found: Found, sigma: float, share: float) -> list[Estimate]:
    seconds = found.at(sigma=sigma).cpu_seconds
    ratio = seconds["lobts"] / max(seconds["lobts(project_every=10)"], 1e-9)
    what = f"speed-up of lobTS, {ratio:.1f}, minus {share:.0%} of 10"
    return [exactly(what, ratio - share * 10)]


FIGURE_2A = Experiment(
    name="figure-2a",
    place="Figure 2(a) (Section 4.1)",
    title="Synthetic: regret against the horizon",
    note="15 arms, 15 states. The text has sigma = 1, the appendix 5; both are shown. "
    "Best first: mTS plays each state's best arm once before it samples. Narrow: lobUCB has the "
    "radius of UCB, c sqrt(2 log t / N); its listing has 4.",
    work=(sweep(n_states=(15,)),),
    draw=partial(_draw_states, columns=2),
    claims=(
        Claim(
            id="synthetic-lob-beats-rivals",
            where="Figure 2, caption, last sentence",
            words="Though they know less, lobUCB and lobTS have less regret than mUCB, UCB and TS.",
            statistic="regret of each rival minus regret of lobUCB and lobTS, at T = 500, "
            "k = m = 15",
            test=by(
                LOB_AT_SIGMA,
                lambda found, sigma, lob: below(found.at(sigma=sigma), lob, (*PLAIN, "mucb")),
            ),
        ),
        Claim(
            id="lobucb-sublinear",
            where="Section 3.1, after Theorem 2",
            words="The regret of lobUCB grows more slowly than the horizon.",
            statistic="lobUCB's regret in the first half of the rounds minus that in the second "
            "half",
            test=by(SIGMA, _sublinear),
        ),
    ),
)

FIGURE_2B = Experiment(
    name="figure-2b",
    place="Figure 2(b) (Section 4.1)",
    title="Synthetic: regret against the number of states, T = 500",
    note="15 arms.",
    work=(sweep(n_states=STATES),),
    draw=partial(_draw_sweep, axis="n_states", name="number of states $m$"),
    claims=(
        Claim(
            id="lob-beats-unstructured-for-all-m",
            where=f"{STRUCTURE}sentence 1",
            words="lobUCB and lobTS have less regret than UCB and TS, for every number of states.",
            statistic="regret of UCB and TS minus regret of lobUCB and lobTS, at each m",
            test=by(
                LOB_AT_SIGMA,
                lambda found, s, lob: below_along(found, "n_states", lob, PLAIN, sigma=s),
            ),
        ),
        Claim(
            id="lob-beats-mucb-for-m-above-2",
            where=f"{STRUCTURE}sentence 2",
            words="But for m = 2, lobUCB and lobTS have less regret than mUCB.",
            statistic="regret of mUCB minus regret of lobUCB and lobTS, at each m > 2",
            test=by(
                LOB_AT_SIGMA,
                lambda found, s, lob: below_along(
                    found, "n_states", lob, ["mucb"], lambda m: m > 2, sigma=s
                ),
            ),
        ),
        Claim(
            id="mucb-wins-at-2-states",
            where=f"{STRUCTURE}sentence 2",
            words="With m = 2 states, mUCB has less regret than lobUCB or lobTS.",
            statistic="regret of lobUCB, or of lobTS, minus regret of mUCB, at m = 2; one is "
            "enough",
            test=by(
                SIGMA,
                lambda found, s: below_along(
                    found, "n_states", "mucb", ["lobucb", "lobts"], lambda m: m == 2, sigma=s
                ),
                any_of,
            ),
        ),
        Claim(
            id="lobts-overtakes-mts",
            where=f"{STRUCTURE}sentence 3",
            words="For some m of at least 15, lobTS overtakes mTS, which knows all means.",
            statistic="regret of mTS minus regret of lobTS, at each m >= 15; one is enough",
            test=by(
                MTS_AT_SIGMA,
                lambda found, s, mts: below_along(
                    found, "n_states", "lobts", [mts], lambda m: m >= 15, sigma=s
                ),
                any_of,
            ),
        ),
    ),
)

FIGURE_2C = Experiment(
    name="figure-2c",
    place="Figure 2(c) (Section 4.1)",
    title="Synthetic: regret against the share of revealed relations, T = 500",
    note="15 arms, 15 states. Only lobUCB and lobTS depend on q.",
    work=(sweep(q=SHARES),),
    draw=partial(_draw_sweep, axis="q", name="share of revealed relations $q$"),
    claims=(
        Claim(
            id="lob-beats-unstructured-for-q-above-0.6",
            where=f"{STRUCTURE}sentence 1",
            words="With more than 60% of the relations, lobUCB and lobTS beat UCB and TS.",
            statistic="regret of UCB and TS minus regret of lobUCB and lobTS, at each q > 0.6",
            test=by(
                LOB_AT_SIGMA,
                lambda found, s, lob: below_along(
                    found, "q", lob, PLAIN, lambda q: q > 0.6, sigma=s
                ),
            ),
        ),
        Claim(
            id="more-relations-less-regret",
            where="Section 4.1, heading 'improve with more constraints'",
            words="The more relations are revealed, the less regret lobUCB and lobTS have.",
            statistic="minus each user's slope of regret over q, by least squares",
            test=by(
                LOB_AT_SIGMA,
                lambda found, s, lob: [
                    estimate("fall of regret per unit of q", -_slope(found, s, lob))
                ],
            ),
        ),
        Claim(
            id="lobts-gains-faster-than-lobucb",
            where="Section 3.2, 'On the regret of lobTS', last sentence",
            words="As relations are added, lobTS's regret falls faster than lobUCB's.",
            statistic="slope of lobUCB's regret over q minus slope of lobTS's",
            test=by(SIGMA, _falls_faster),
        ),
    ),
)

FIGURE_5 = Experiment(
    name="figure-5",
    place="Figure 5 (Appendix B.4)",
    title="Synthetic: regret against the horizon for m = 4, 12 and 20",
    note="15 arms.",
    work=(sweep(n_states=(4, 12, 20)),),
    draw=partial(_draw_states, columns=3),
    claims=(
        Claim(
            id="mts-explores-longer-with-more-states",
            where=f"{STRUCTURE}last sentence",
            words="mTS's initial exploration takes longer, the more states there are.",
            statistic="mTS's regret in the first 50 rounds with m = 20 minus that with m = 4",
            test=by(MTS_AT_SIGMA, _explores_longer),
        ),
        Claim(
            id="mts-beats-top-arms",
            where="Appendix C, last paragraph",
            words="mTS is far better than UCB restricted to the arms that are best in some state.",
            statistic="regret of UCB on the top arms minus regret of mTS, at each m",
            test=by(
                SIGMA, lambda found, s: below_along(found, "n_states", "mts", ["toparms"], sigma=s)
            ),
        ),
    ),
)

FIGURE_4 = Experiment(
    name="figure-4",
    place="Figure 4 (Appendix B.3)",
    title="Synthetic: regret against the rounds between projections, k = m = 10",
    note="lobUCB finds its active arms, and lobTS its probabilities, anew every T_proj rounds.",
    work=(
        sweep(
            policies=(*PAPER_POLICIES[:-2], *(lazy(p, n) for p in PACED for n in EVERY)),
            task={"n_arms": 10, "n_states": 10, "q": 1.0},
        ),
    ),
    draw=_draw_paces,
    claims=(
        Claim(
            id="projecting-every-10-rounds-is-harmless",
            where="Section 3.3, last but one sentence; Appendix B.3",
            words="To project only every tenth round hurts neither lobUCB nor lobTS.",
            statistic="110% of the regret at T_proj = 1 minus the regret at T_proj = 10",
            test=by(
                {
                    f"{policy_title(policy)}, {name}": (*sigma, policy)
                    for name, sigma in SIGMA.items()
                    for policy in PACED
                },
                _harmless,
            ),
        ),
        Claim(
            id="projecting-less-is-linearly-faster",
            where="Section 3.3, last sentence; Appendix B.3",
            words="To project every T_proj rounds speeds lobTS up by a factor of T_proj.",
            statistic="processor time of lobTS at T_proj = 1 over that at 10, minus 5 and 8",
            test=by(
                {
                    f"{name}, at least {share:.0%} of T_proj": (*sigma, share)
                    for name, sigma in SIGMA.items()
                    for share in LINEAR
                },
                _linear,
            ),
            timed=True,
        ),
    ),
)
