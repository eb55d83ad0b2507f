"""Figure 8, Appendix B.5: regret per round in Setting B with 5, 20 and 140 states."""

from functools import partial
from itertools import pairwise

from lobandits.basics.checks import FloatArray
from lobandits.paper.claims import NO_VARIANTS, Claim, Estimate, estimate, for_each
from lobandits.paper.experiment import Experiment, Survey
from lobandits.paper.figures.movielens_task import (
    AVERAGED,
    LOB_VARIANTS,
    SETTING_B,
    draw_regret_by_states,
    sweep,
)
from lobandits.paper.parts import RatingData, Records


def violations_by_states(
    ratings: RatingData, n_states: tuple[int, ...], seed: int
) -> dict[str, FloatArray]:
    """Return how many of its state's neighbours each user's own means put in the wrong order."""
    return {f"m = {m}": ratings.violations(m, alpha=1.0) for m in n_states}


COUNTED = (5, 20, 60, 140)
"""Numbers of states at which violated relations are counted."""
WORK = (
    sweep(n_states=(5, 20, 140), alpha=(SETTING_B,)),
    Survey(
        name="violations",
        measure=violations_by_states,
        options={size: {"n_states": COUNTED} for size in ("tiny", "default", "full")},
        on_ratings=True,
    ),
)


def _bias_falls(records: Records, policy: str) -> list[Estimate]:
    few, *_, many = records.along("n_states").values()
    less = few.between(policy, 0.75, 1.0) - many.between(policy, 0.75, 1.0)
    return [estimate("regret with 5 states minus that with 140", less, few)]


def _misspecified_less(records: Records) -> list[Estimate]:
    counts = records.at(measure="violations")
    mean = {label: counts.total(label).mean() for label in counts.labels}
    return [
        estimate(
            f"violated with {a} ({mean[a]:.2f}) minus those with {b} ({mean[b]:.2f})",
            counts.total(a) - counts.total(b),
            counts,
        )
        for a, b in pairwise(counts.labels)
    ]


CLAIMS = (
    Claim(
        id="movielens-b-misspecification-falls-with-m",
        where="Appendix B.5, last paragraph, sentence 2",
        words="With more states the users' own means violate fewer relations of their state.",
        statistic="violated relations at one m of 5, 20, 60, 140 minus those at the next, by user",
        test=for_each(NO_VARIANTS, _misspecified_less),
    ),
    Claim(
        id="movielens-b-bias-falls-with-m",
        where="Appendix B.5, last paragraph, sentence 2",
        words="With more states the late regret of lobUCB and lobTS is smaller.",
        statistic="regret in rounds 3001-4000 with m = 5 minus that with m = 140, by user",
        test=for_each(LOB_VARIANTS, _bias_falls),
    ),
)

EXPERIMENT = Experiment(
    name="figure-8",
    place="Figure 8 (Appendix B.5)",
    title="MovieLens, Setting B: regret per round for m = 5, 20 and 140",
    note=AVERAGED,
    work=WORK,
    draw=partial(draw_regret_by_states, per_round=True),
    claims=CLAIMS,
)
